import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { flatCost } from '../../test/bench/connectivity/flatCost.ts';
import { resultOf, type Result } from '../../test/bench/figure.ts';
import type { Machine } from '../../test/bench/machine.ts';
import { renderTable } from '../../test/bench/table.ts';
import type { GeneratedFile } from './file.ts';
import { renderPlots, renderSoak, type BenchRun, type SoakRun } from './plots.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DIRECTORY = 'docs/performance';
const PAGE = 'docs/performance.md';
const BEGIN = '<!-- Generated from docs/performance/*.json by `make generate`: begin -->';
const END = '<!-- end -->';
/** The goal, in KiB. */
const FURTHER_NODE_AT_MOST = 5;

/** The tables and plots of docs/performance.md, from the results of `make bench`. The other text is not generated. */
export function performancePage(): GeneratedFile[] {
  const runs = readRuns();
  // The plots and the cost of each further node compare sizes, so all runs must be from one machine.
  const ofOneMachine = runs.filter(({ where }) => where === '');
  const soaks = readSoaks();
  const drawn = [...renderPlots(ofOneMachine), ...soaks.map(renderSoak)];
  const plots = drawn.map(({ name, svg }) => ({ path: `${DIRECTORY}/${name}.svg`, content: svg }));
  const text = readFileSync(join(ROOT, PAGE), 'utf8');
  const [before, rest] = [text.slice(0, text.indexOf(BEGIN)), text.slice(text.indexOf(END))];
  const images = plots.map(({ path }) => `![](${path.replace('docs/', '')})`).join('\n');
  const sections = [
    images,
    ...runs.map(section),
    ...furtherNodes(ofOneMachine),
    ...soaks.map(soakSection),
    ...benchSection('The connectivity server', 'connectivity.json', flatCost),
    ...agentSection(),
    ...benchSection('DNS weights', 'weights.json'),
    ...benchSection('Stacks', 'stacks.json'),
    ...benchSection('The query for late samples', 'late.json'),
  ];
  const content = `${before}${BEGIN}\n\n${sections.join('\n\n')}\n\n${rest}`;
  return [...plots, { path: PAGE, content }];
}

/** The output of `make bench-connectivity`, `make bench-weights`, `make bench-stacks` and `make bench-late`. */
type OwnRun = Machine & { command: string; repetitions: number; results: Result[] } & Partial<Circumstances>;

/** When a run was, as a date, and the lowest and highest load of the machine meanwhile. */
interface Circumstances {
  date: string;
  load: { min: number; max: number };
}

/** A run with the name of its machine; '' for the usual one, 'slower machine' for `10000-slower-machine.json`. */
type PlacedRun = BenchRun & { where: string };

/** All runs, by size. */
function readRuns(): PlacedRun[] {
  const directory = join(ROOT, DIRECTORY);
  const files = existsSync(directory)
    ? readdirSync(directory).filter((file) => /^\d+(-[a-z-]+)?\.json$/.test(file))
    : [];
  const runs = files.map((file) => ({
    ...(JSON.parse(readFileSync(join(directory, file), 'utf8')) as BenchRun),
    where: file.replace(/^\d+-?|\.json$/g, '').replaceAll('-', ' '),
  }));
  return runs.sort((a, b) => a.nodes - b.nodes || a.where.localeCompare(b.where));
}

/** The last soak run, if there is one. */
function readSoaks(): SoakRun[] {
  const path = join(ROOT, DIRECTORY, 'soak.json');
  return existsSync(path) ? [JSON.parse(readFileSync(path, 'utf8')) as SoakRun] : [];
}

function section({ nodes, where, effort, results, ...run }: PlacedRun): string {
  const { repetitions, passes, intervalMs } = effort;
  const looks = `${repetitions} repetitions; measurements of passes: ${passes} passes each, one every ${intervalMs / 1000} s`;
  const made = `${madeBy(run)}; ${looks}.`;
  return [`### ${nodes.toLocaleString('en')} nodes${where && `, ${where}`}`, made, renderTable(results)].join('\n\n');
}

/** The memory of each further node, from one size to the next; nothing for fewer than two sizes. */
function furtherNodes(runs: readonly BenchRun[]): string[] {
  const results = runs.slice(1).flatMap((run, index) => furtherNode(runs[index]!, run));
  return results.length === 0 ? [] : ['### Each further node', renderTable(results)];
}

function furtherNode(smaller: BenchRun, larger: BenchRun): Result[] {
  const [less, more] = [smaller, larger].map(({ results }) => results.find(({ id }) => id === 'memory.resident'));
  if (less === undefined || more === undefined) return [];
  const kib = ((more.summary.median - less.summary.median) * 1024) / (larger.nodes - smaller.nodes);
  const what = `resident memory of each further node, from ${smaller.nodes} to ${larger.nodes}`;
  const figure = { id: 'memory.furtherNode', what, unit: 'KiB', samples: [kib], atMost: FURTHER_NODE_AT_MOST } as const;
  return [resultOf(figure)];
}

function soakSection({ result, ...run }: SoakRun): string {
  return ['### While nodes come and go', `${madeBy(run)}.`, renderTable([result])].join('\n\n');
}

/**
 * The result of a benchmark that has a file of its own, if there is one.
 *
 * @param compare computes further results
 */
function benchSection(
  title: string,
  file: string,
  compare: (results: readonly Result[]) => Result[] = () => [],
): string[] {
  const path = join(ROOT, DIRECTORY, file);
  if (!existsSync(path)) return [];
  const { results, repetitions, date, load, ...run } = JSON.parse(readFileSync(path, 'utf8')) as OwnRun;
  const when = date === undefined ? '' : `, on ${date}`;
  const meanwhile = load === undefined ? '' : `, with a load of the machine from ${load.min} to ${load.max}`;
  return [
    `### ${title}`,
    `${madeBy(run)}; ${repetitions} repetitions${when}${meanwhile}.`,
    renderTable([...results, ...compare(results)]),
  ];
}

/** The agents in the result of `make bench-connectivity`, if there is one. */
function agentSection(): string[] {
  const path = join(ROOT, DIRECTORY, 'connectivity-agent.json');
  if (!existsSync(path)) return [];
  const { results, repetitions, agents, windowSeconds, ...run } = JSON.parse(readFileSync(path, 'utf8')) as OwnRun & {
    agents: number;
    windowSeconds: number;
  };
  const how = `${agents} agents, each in ${repetitions} windows of ${windowSeconds} s`;
  return ['### The connectivity agent', `${madeBy(run)}; ${how}.`, renderTable(results)];
}

/** The command, the commit and the machine of a run. */
export function madeBy({ command, commit, node, cpu, cores, memoryGiB }: Machine & { command: string }): string {
  return `\`${command}\` at ${commit}, Node.js ${node}, ${cores} cores (${cpu}), ${memoryGiB} GiB`;
}
