import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
/** KiB; the goal. */
const FURTHER_NODE_AT_MOST = 5;

/** The tables and plots of docs/performance.md, from what `make bench` measured; the words around them are not generated. */
export function performancePage(): GeneratedFile[] {
  const runs = readRuns();
  // Plots, and what each further node takes, compare sizes, not machines.
  const ofOneMachine = runs.filter(({ where }) => where === '');
  const soaks = readSoaks();
  const drawn = [...renderPlots(ofOneMachine), ...soaks.map(renderSoak)];
  const plots = drawn.map(({ name, svg }) => ({ path: `${DIRECTORY}/${name}.svg`, content: svg }));
  const text = readFileSync(join(ROOT, PAGE), 'utf8');
  const [before, rest] = [text.slice(0, text.indexOf(BEGIN)), text.slice(text.indexOf(END))];
  const images = plots.map(({ path }) => `![](${path.replace('docs/', '')})`).join('\n');
  const sections = [images, ...runs.map(section), ...furtherNodes(ofOneMachine), ...soaks.map(soakSection)];
  const content = `${before}${BEGIN}\n\n${sections.join('\n\n')}\n\n${rest}`;
  return [...plots, { path: PAGE, content }];
}

/** A run, and where it was made, if not where the others were: 'slower machine' for `10000-slower-machine.json`. */
type PlacedRun = BenchRun & { where: string };

/** By size. */
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

/** The newest one, if there was any. */
function readSoaks(): SoakRun[] {
  const path = join(ROOT, DIRECTORY, 'soak.json');
  return existsSync(path) ? [JSON.parse(readFileSync(path, 'utf8')) as SoakRun] : [];
}

function section({ nodes, where, effort, results, ...run }: PlacedRun): string {
  const { repetitions, passes, intervalMs } = effort;
  const looks = `${repetitions} repetitions, ${passes} passes in each that looks at passes, one every ${intervalMs / 1000} s`;
  const made = `${madeBy(run)}; ${looks}.`;
  return [`### ${nodes.toLocaleString('en')} nodes${where && `, ${where}`}`, made, renderTable(results)].join('\n\n');
}

/** What each further node takes, from one size to the next; nothing where fewer than two were measured. */
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

function madeBy({ command, commit, node, cpu, cores, memoryGiB }: Machine & { command: string }): string {
  return `\`${command}\` at ${commit}, Node.js ${node}, ${cores} cores (${cpu}), ${memoryGiB} GiB`;
}
