import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderTable } from '../../test/bench/table.ts';
import type { GeneratedFile } from './file.ts';
import { renderPlots, type BenchRun } from './plots.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DIRECTORY = 'docs/performance';
const PAGE = 'docs/performance.md';
const BEGIN = '<!-- Generated from docs/performance/*.json by `make generate`: begin -->';
const END = '<!-- end -->';

/** The tables and plots of docs/performance.md, from what `make bench` measured; the words around them are not generated. */
export function performancePage(): GeneratedFile[] {
  const runs = readRuns();
  const plots = renderPlots(runs).map(({ name, svg }) => ({ path: `${DIRECTORY}/${name}.svg`, content: svg }));
  const text = readFileSync(join(ROOT, PAGE), 'utf8');
  const [before, rest] = [text.slice(0, text.indexOf(BEGIN)), text.slice(text.indexOf(END))];
  const images = plots.map(({ path }) => `![](${path.replace('docs/', '')})`).join('\n');
  const content = `${before}${BEGIN}\n\n${[images, ...runs.map(section)].join('\n\n')}\n\n${rest}`;
  return [...plots, { path: PAGE, content }];
}

/** By size. */
function readRuns(): BenchRun[] {
  const directory = join(ROOT, DIRECTORY);
  const files = existsSync(directory) ? readdirSync(directory).filter((file) => file.endsWith('.json')) : [];
  const runs = files.map((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')) as BenchRun);
  return runs.sort((a, b) => a.nodes - b.nodes);
}

function section({ nodes, command, commit, node, cpu, cores, memoryGiB, effort, results }: BenchRun): string {
  const repetitions = `${effort.repetitions} repetitions, ${effort.passes} passes in each that looks at passes`;
  return [
    `### ${nodes.toLocaleString('en')} nodes`,
    `\`${command}\` at ${commit}, Node.js ${node}, ${cores} cores (${cpu}), ${memoryGiB} GiB; ${repetitions}.`,
    renderTable(results),
  ].join('\n\n');
}
