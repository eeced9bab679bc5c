import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderConclusion, renderEffect } from '../../test/bench/effect/effectTable.ts';
import type { EffectRun } from '../../test/bench/effect/measurement.ts';
import { clientLateness, summarizeRun } from '../../test/bench/effect/summary.ts';
import { number } from '../../test/bench/table.ts';
import type { GeneratedFile } from './file.ts';
import { madeBy } from './performance.ts';
import { renderEffectPlot } from './plots.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RESULT = 'docs/effect/result.json';
const PAGE = 'docs/effect.md';
const PLOT = 'docs/effect/latency.svg';
const BEGIN = '<!-- Generated from docs/effect/result.json by `make generate`: begin -->';
const END = '<!-- end -->';
const BUSY = '**The machine was busy with other work: most of these latencies are not the network. Repeat the run.**';

/** The table and the plot of docs/effect.md, from the result of `make bench-effect`. The other text is not generated. */
export function effectPage(): GeneratedFile[] {
  if (!existsSync(join(ROOT, RESULT))) return [];
  const run = JSON.parse(readFileSync(join(ROOT, RESULT), 'utf8')) as EffectRun;
  const text = readFileSync(join(ROOT, PAGE), 'utf8');
  const [before, rest] = [text.slice(0, text.indexOf(BEGIN)), text.slice(text.indexOf(END))];
  const image = `![](${PLOT.replace('docs/', '')})`;
  const warning = clientLateness(run).isTooLate ? [BUSY] : [];
  const sections = [...warning, renderConclusion(run), image, renderEffect(run), conditions(run)];
  return [
    { path: PLOT, content: renderEffectPlot(summarizeRun(run)) },
    { path: PAGE, content: `${before}${BEGIN}\n\n${sections.join('\n\n')}\n\n${rest}` },
  ];
}

function conditions(run: EffectRun): string {
  const { requestsPerSecond, responseBytes, downloadBytes, windowSeconds, repetitions } = run;
  return [
    `${madeBy(run)}. Each scenario was measured ${repetitions} times, in turn; with more than one value: median (min to max).`,
    `${requestsPerSecond} requests per second for ${windowSeconds} s each, responses of ${responseBytes / 1e3} kB, downloads of`,
    `${downloadBytes / 1e6} MB. The client was late itself: for 1 % of the requests of a measurement by more than ${number(clientLateness(run).ms)} ms at worst.`,
  ].join('\n');
}
