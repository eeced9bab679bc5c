/**
 * Runs the operator while nodes are removed and added and verdicts change, and reports whether its memory grows.
 *
 *   node test/soak/memory.ts --nodes 10000 --minutes 120 --out docs/performance/soak.json
 *
 * Each minute it removes one in a hundred nodes and changes the verdict of one in ten; half a minute later it restores both.
 * Exits with status 1 if the memory has grown by more than the limit.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { resultOf, type Figure } from '../bench/figure.ts';
import { machine } from '../bench/machine.ts';
import { settled } from '../bench/measures/steady.ts';
import { residentBytes } from '../harness/processUse.ts';
import { ABOVE_ALL, BELOW_BUSY } from '../bench/shape.ts';
import { growth } from '../bench/statistics.ts';
import { renderTable } from '../bench/table.ts';
import { DEFAULT_INTERVAL_MS, startWorld, type World } from '../bench/world.ts';
import { sleep } from '../harness/measured.ts';
import type { Operator } from '../harness/operator.ts';

const MIB = 1024 ** 2;
const HALF_MINUTE_MS = 30_000;
/** MiB, from the second quarter of the time to the last. */
const MAY_GROW_BY = 5;
const CHURN_SHARE = 0.01;
const WATCH = 'web';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '120' },
    out: { type: 'string' },
  },
});
const nodes = wholeNumber('--nodes', values.nodes, 100);
const minutes = wholeNumber('--minutes', values.minutes, 8);

const world = await startWorld(nodes, DEFAULT_INTERVAL_MS);
try {
  const operator = await world.startOperator();
  await world.createWatch(WATCH);
  await settled(world, WATCH);
  const resident = await watchMemory(operator);
  await operator.terminate();
  const result = resultOf(figureOf(resident));
  console.log(renderTable([result]));
  if (values.out !== undefined) {
    mkdirSync(dirname(values.out), { recursive: true });
    const command = `make soak-memory NODES=${nodes} MINUTES=${minutes}`;
    const run = { command, ...machine(), nodes, minutes, result, residentMiB: resident };
    writeFileSync(values.out, `${JSON.stringify(run, null, 2)}\n`);
  }
  process.exitCode = result.met === true ? 0 : 1;
} finally {
  await world.stop();
}

/** MiB, at the end of each minute. */
async function watchMemory(operator: Operator): Promise<number[]> {
  const resident: number[] = [];
  while (resident.length < minutes) {
    await churn(world);
    resident.push(residentBytes(operator.pid) / MIB);
    console.log(`minute ${resident.length}: ${resident.at(-1)!.toFixed(0)} MiB`);
  }
  return resident;
}

async function churn(world: World): Promise<void> {
  const end = performance.now() + 2 * HALF_MINUTE_MS;
  await world.setThreshold(WATCH, BELOW_BUSY);
  await world.plane.setNodes(nodes - Math.ceil(nodes * CHURN_SHARE));
  await sleep(Math.max(0, end - HALF_MINUTE_MS - performance.now()));
  await world.setThreshold(WATCH, ABOVE_ALL);
  await world.plane.setNodes(nodes);
  await sleep(Math.max(0, end - performance.now()));
}

function figureOf(resident: readonly number[]): Figure {
  const what = `growth of resident memory with ${nodes} nodes, from the second quarter of ${minutes} minutes to the last`;
  return { id: 'soak.growth', what, unit: 'MiB', samples: [growth(resident)], atMost: MAY_GROW_BY };
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least) return value;
  throw new Error(`${name}=${text}: must be a whole number of at least ${least}`);
}
