/**
 * Measures what the operator computes in a reconcile of a large stack: all that is between the caches and the writes.
 *
 *   node test/bench/stacks/main.ts --out docs/performance/stacks.json
 *
 * Ends with status 1 if the median of a figure misses the goal. Environment: REPETITIONS (100), GOAL_MS (100).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { resultOf, type Figure } from '../figure.ts';
import { failIfMissed, positiveInteger, positiveNumber } from '../goals.ts';
import { machine } from '../machine.ts';
import { renderTable } from '../table.ts';
import { largeStack, planOf, withInventory, type There } from './largeStack.ts';

const COMPONENTS = 200;
const EDGES = 2_000;

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const repetitions = positiveInteger('REPETITIONS', process.env.REPETITIONS ?? '100');
const goalMs = positiveNumber('GOAL_MS', process.env.GOAL_MS ?? '100');
const run = { command: 'make bench-stacks', ...machine(), repetitions };

const CASES: readonly [string, There, string][] = [
  ['none', 'none', 'of which nothing exists'],
  ['ready', 'ready', 'all of which are ready'],
  ['changed', 'changed', 'all of which are changed'],
  ['unavailable', 'unavailable', 'none of which has available pods'],
  ['deleted', 'deleted', 'all of which are being deleted'],
];

/** @returns ms of each repetition, the first included */
function measure(there: There): number[] {
  const empty = largeStack(COMPONENTS, EDGES);
  const stack = there === 'none' ? empty : withInventory(empty);
  return Array.from({ length: repetitions }, () => {
    const since = performance.now();
    const { statuses } = planOf(stack, there);
    const took = performance.now() - since;
    if (statuses.length !== COMPONENTS) throw new Error(`only ${statuses.length} components were planned`);
    return took;
  });
}

const what = `${COMPONENTS} components with ${EDGES.toLocaleString('en')} dependencies`;
const figures = CASES.map(([id, there, text]): Figure => {
  return {
    id: `stacks.${id}`,
    what: `a plan of ${what}, ${text}`,
    unit: 'ms',
    samples: measure(there),
    atMost: goalMs,
  };
});
const results = figures.map(resultOf);
console.log(`\n${renderTable(results)}`);
if (values.out !== undefined) {
  mkdirSync(dirname(values.out), { recursive: true });
  writeFileSync(values.out, `${JSON.stringify({ ...run, results }, null, 2)}\n`);
}
failIfMissed(results, run);
