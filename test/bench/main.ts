/**
 * Measures the operator's bundle on real servers, and writes the results.
 *
 *   node test/bench/main.ts --nodes 10000 --out docs/performance/10000.json
 *   node test/bench/main.ts --nodes 50000 --without "labelling many" --out docs/performance/50000.json
 *   node test/bench/main.ts --quick
 *
 * The last command measures 1,000 nodes, reports only counts, and ends with status 1 if a count exceeds its goal.
 * Environment: REPETITIONS (5), PASSES per repetition (25; 10 beyond 10,000 nodes).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { COUNTED, resultOf, type Result } from './figure.ts';
import { missedGoals, positiveInteger } from './goals.ts';
import { machine } from './machine.ts';
import { measureAtRest, measureCluster, measureQuickly, OPTIONAL, type Optional, type Told } from './sections.ts';
import { renderTable } from './table.ts';
import { DEFAULT_INTERVAL_MS } from './world.ts';

const QUICK_NODES = 1_000;
/** Five times as often as by default, so that minutes contain hundreds of passes. This is the harder case. */
const OFTEN = { intervalMs: 2_000, passes: 25 };
/** With 50,000 nodes, a query every 2 s takes Prometheus 2 s on two cores: no pass would get a response in time. */
const AT_EASE = { intervalMs: DEFAULT_INTERVAL_MS, passes: 10 };
const OFTEN_AT_MOST_NODES = 10_000;

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '10000' },
    without: { type: 'string', default: '' },
    out: { type: 'string' },
    quick: { type: 'boolean' },
  },
});
const isQuick = values.quick === true;
const nodes = isQuick ? QUICK_NODES : positiveInteger('--nodes', values.nodes);
const without = sectionsOf('--without', values.without);
const pace = nodes > OFTEN_AT_MOST_NODES ? AT_EASE : OFTEN;
const effort = isQuick
  ? // A machine in other use, where a pass may take seconds, still has time for each.
    { repetitions: 1, passes: 3, intervalMs: DEFAULT_INTERVAL_MS }
  : {
      intervalMs: pace.intervalMs,
      repetitions: positiveInteger('REPETITIONS', process.env.REPETITIONS ?? '5'),
      passes: positiveInteger('PASSES', process.env.PASSES ?? String(pace.passes)),
    };

const results: Result[] = [];
const save = values.out === undefined ? undefined : saverTo(values.out);
const begin = performance.now();
const told: Told = (section, figures) => {
  const seconds = Math.round((performance.now() - begin) / 1000);
  const added = figures.map(resultOf).filter(({ unit }) => !isQuick || COUNTED.has(unit));
  results.push(...added);
  console.log(`\n${section} (after ${seconds} s)\n${renderTable(added)}`);
  // Not only at the end: a failure of the next section must not lose measurements of an hour.
  save?.();
};

if (isQuick) {
  await measureQuickly(nodes, effort, told);
} else {
  await measureCluster(nodes, effort, told, without);
  await measureAtRest(effort, told);
}
const missed = missedGoals(results);
if (missed !== undefined) console.log(`\n${missed}`);
if (isQuick && missed !== undefined) process.exitCode = 1;

function saverTo(path: string): () => void {
  mkdirSync(dirname(path), { recursive: true });
  const command = [`make bench NODES=${nodes}`, ...(without.length > 0 ? [`WITHOUT="${without.join(' ')}"`] : [])];
  // Reads the commit before anything is written, which would change the checkout.
  const run = { command: command.join(' '), ...machine(), nodes, effort, results };
  return () => writeFileSync(path, `${JSON.stringify(run, null, 2)}\n`);
}

function sectionsOf(name: string, text: string): Optional[] {
  const named = text.split(' ').filter((section) => section !== '');
  const unknown = named.find((section) => !OPTIONAL.some((optional) => optional === section));
  if (unknown !== undefined) throw new Error(`${name}: ${unknown} must be one of ${OPTIONAL.join(', ')}`);
  return OPTIONAL.filter((optional) => named.includes(optional));
}
