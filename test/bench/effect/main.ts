/**
 * Measures the latency of a workload while the link of a node is full: with default scheduling, and with a TrafficWatch
 * (Preferred, Required), compared with an idle cluster. Starts a lab and takes it down.
 *
 *   node test/bench/effect/main.ts --out docs/effect/result.json
 *
 * Environment: REPETITIONS (3), WINDOW of each measurement in seconds (15).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { labDown } from '../../lab/lab.ts';
import { operatorLogs } from '../../scenario/install.ts';
import { machine } from '../machine.ts';
import { FULL, startCluster } from './cluster.ts';
import { renderEffect } from './effectTable.ts';
import type { EffectRun, Measurement } from './measurement.ts';
import { DOWNLOAD_BYTES, repeat, REQUESTS_PER_SECOND, RESPONSE_BYTES } from './repetition.ts';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const repetitions = numberOf('REPETITIONS', '3');
const windowSeconds = numberOf('WINDOW', '15');
const settings = ['REPETITIONS', 'WINDOW'].flatMap((name) => (process.env[name] ? `${name}=${process.env[name]}` : []));
const measurements: Measurement[] = [];
// Reads the commit before anything is written, which would change the checkout.
const run: EffectRun = {
  command: ['make bench-effect', ...settings].join(' '),
  ...machine(),
  fullNode: FULL,
  requestsPerSecond: REQUESTS_PER_SECOND,
  responseBytes: RESPONSE_BYTES,
  downloadBytes: DOWNLOAD_BYTES,
  windowSeconds,
  repetitions,
  measurements,
};
const begin = performance.now();

function say(text: string): void {
  console.log(`${Math.round((performance.now() - begin) / 1_000)} s  ${text}`);
}

function onMeasured(measurement: Measurement): void {
  measurements.push(measurement);
  const { scenario, repetition, replicas, p50Ms, p99Ms, lateP99Ms, failed } = measurement;
  const latency = [p50Ms, p99Ms, lateP99Ms].map((ms) => ms.toFixed(2));
  const where = Object.values(replicas).join('/');
  say(
    `${repetition} ${scenario}: p50, p99, client late: ${latency.join(', ')} ms; replicas ${where}; ${failed} failed`,
  );
}

function save(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(run, null, 2)}\n`);
}

async function measure(): Promise<void> {
  say('starting the lab');
  await (starting = startCluster());
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    await repeat(repetition, windowSeconds, onMeasured);
  }
  console.log(`\n${renderEffect(run)}`);
  if (values.out !== undefined) save(values.out);
}

function numberOf(name: string, byDefault: string): number {
  const value = Number(process.env[name] ?? byDefault);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`${name} must be a whole number above 0`);
}

let starting: Promise<void> | undefined;
let down: Promise<void> | undefined;

/** Once, whoever asks: an interrupt makes the step that runs fail, and both want it. A start that runs ends first. */
function takeDown(): Promise<void> {
  down ??= Promise.allSettled([starting]).then(labDown);
  return down;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void takeDown().finally(() => process.exit(130)));
}

try {
  await measure();
} catch (error) {
  console.error(await operatorLogs().catch(() => 'the operator has no logs yet'));
  throw error;
} finally {
  await takeDown();
}
