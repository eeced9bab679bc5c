import { Agent } from 'node:http';
import { constants, setPriority } from 'node:os';
import type { V1Pod } from '@kubernetes/client-node';
import { stopTraffic } from '../../scenario/traffic.ts';
import { clock } from './clock.ts';
import { FULL, NODES, saturate, untilLabelled } from './cluster.ts';
import { tallyOf, type Measurement, type Scenario, type Tally } from './measurement.ts';
import { request, type Target } from './request.ts';
import { SteadyLoad } from './steadyLoad.ts';
import {
  createWorkload,
  deleteWorkloads,
  readyPods,
  requireAffinity,
  roll,
  targetOf,
  watchWorkload,
} from './workload.ts';

export const REPLICAS = 6;
/** All replicas together: 4 Mbit/s each, so that even three on one node take no more than 12 % of its link. */
export const REQUESTS_PER_SECOND = 300;
export const RESPONSE_BYTES = 10_000;
export const DOWNLOAD_BYTES = 4_000_000;
const THRESHOLD = '60';
/** Several times what a full link takes: ms. */
const TIMEOUT = 5_000;
const DOWNLOAD_TIMEOUT = 60_000;
/** The first requests to new processes run code that is not compiled yet; they are sent, but not counted: ms. */
const WARM_UP = 3_000;

/** The scenarios that run while the link is full. Each has a Deployment of its own. */
const SATURATED = ['default', 'by hand', 'Preferred', 'Required'] as const;
const WATCHED = ['Preferred', 'Required'] as const;
const workloadOf = (scenario: Scenario): string => `web-${scenario.toLowerCase().replace(' ', '-')}`;
const WATCHES = WATCHED.map(workloadOf);

/**
 * One repetition: idle, then the others in turn while the link is full. Another repetition has another order.
 *
 * @param onMeasured called with each measurement at once
 */
export async function repeat(
  repetition: number,
  windowSeconds: number,
  onMeasured: (measurement: Measurement) => void,
): Promise<void> {
  const measure = async (scenario: Scenario): Promise<void> =>
    onMeasured({ scenario, repetition, ...(await measured(scenario, windowSeconds)) });
  await deleteWorkloads(['idle' as const, ...SATURATED].map(workloadOf));
  // The traffic of the repetition before has ended, and its labels change back meanwhile.
  await createWorkload(workloadOf('idle'), REPLICAS);
  await measure('idle');
  await deleteWorkloads([workloadOf('idle')]);
  if (repetition > 1) await untilLabelled(WATCHES, []);
  const create = (scenario: Scenario): Promise<void> =>
    createWorkload(workloadOf(scenario), REPLICAS, scenario === 'by hand' ? FULL : undefined);
  await Promise.all(SATURATED.map(create));
  await Promise.all(WATCHED.map((scenario) => watchWorkload(workloadOf(scenario), scenario, THRESHOLD)));
  await saturate(WATCHES);
  for (const scenario of inTurn(SATURATED, repetition - 1)) await measure(scenario);
  await stopTraffic();
}

/** The same items, rotated by n: ['b', 'c', 'a'] for n = 1. */
function inTurn<T>(items: readonly T[], n: number): T[] {
  const first = n % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

type Measured = Omit<Measurement, 'scenario' | 'repetition'>;

/** Rolls the scenario's Deployment once under load, then measures its new pods. */
async function measured(scenario: Scenario, windowSeconds: number): Promise<Measured> {
  const name = workloadOf(scenario);
  const load = await SteadyLoad.start(
    { requestsPerSecond: REQUESTS_PER_SECOND, bytes: RESPONSE_BYTES, timeoutMs: TIMEOUT },
    (await readyPods(name)).map(targetOf),
  );
  try {
    const pods = await roll(name, (ready) => load.aimAt(ready.map(targetOf)));
    if (WATCHED.some((watched) => watched === scenario)) requireAffinity(name, pods);
    const failedBefore = load.failed;
    const tally = await measureWindow(load, windowSeconds);
    return { ...tally, replicas: replicasOf(pods), failedBefore, downloads: await downloadAll(pods.map(targetOf)) };
  } finally {
    await load.stop();
  }
}

/** At a higher priority than the cluster on the same processors, so that a delay of the client is no latency. */
async function measureWindow(load: SteadyLoad, seconds: number): Promise<Tally> {
  setPriority(constants.priority.PRIORITY_HIGH);
  try {
    await load.window(WARM_UP);
    return tallyOf(await load.window(seconds * 1_000), seconds);
  } finally {
    setPriority(constants.priority.PRIORITY_NORMAL);
  }
}

function replicasOf(pods: readonly V1Pod[]): Record<string, number> {
  return Object.fromEntries(NODES.map((node) => [node, pods.filter(({ spec }) => spec?.nodeName === node).length]));
}

/** Mbit/s from each replica, one after the other, during the load. */
async function downloadAll(targets: readonly Target[]): Promise<number[]> {
  const rates: number[] = [];
  const agent = new Agent();
  for (const target of targets) {
    const begin = clock();
    if (!(await request(target, DOWNLOAD_BYTES, agent, DOWNLOAD_TIMEOUT))) throw new Error('a download failed');
    rates.push((DOWNLOAD_BYTES * 8) / 1e6 / ((clock() - begin) / 1_000));
  }
  return rates;
}
