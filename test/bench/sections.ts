import { until } from '../harness/measured.ts';
import type { Effort } from './effort.ts';
import type { Figure } from './figure.ts';
import { measureDiscovery } from './measures/discovery.ts';
import { measureBareFlips, measureFlips } from './measures/flips.ts';
import { measureIdle } from './measures/idle.ts';
import { measureLabelling } from './measures/labelling.ts';
import { measureManyWatches } from './measures/manyWatches.ts';
import { measureMemory, measureMemoryOften } from './measures/memory.ts';
import { measurePrometheus } from './measures/prometheus.ts';
import { measureStart } from './measures/start.ts';
import { measureStatus } from './measures/status.ts';
import { measureSteady, settled } from './measures/steady.ts';
import { startHeartbeats } from './heartbeats.ts';
import { MetricsPage } from './metricsPage.ts';
import { BELOW_BUSY, busyNodes } from './shape.ts';
import { DEFAULT_INTERVAL_MS, startWorld, type World } from './world.ts';

/** Parts that may be left out: they take hours on a large cluster. */
export const OPTIONAL = ['labelling', 'many'] as const;
export type Optional = (typeof OPTIONAL)[number];

/** Called with the figures of each section when it ends. */
export type Told = (section: string, figures: readonly Figure[]) => void;

const WATCH = 'web';
/** Upper limit at any time (the lanes for calls, watches and the Lease). */
const CONNECTIONS = 3;
/** A cluster on which the operator has nothing to do. */
const IDLE_NODES = 3;

/** Measures a cluster of this size, section by section. */
export async function measureCluster(
  nodes: number,
  effort: Effort,
  told: Told,
  without: readonly Optional[],
): Promise<void> {
  const world = await startWorld(nodes, effort.intervalMs);
  try {
    const { repetitions } = effort;
    told('start', await measureStart(world, repetitions));
    if (!without.includes('labelling')) await measureLabellings(world, repetitions, told);
    await measureByDefault(world, repetitions, told);
    await measurePasses(world, effort, told, without);
    told('connections', [connectionsOf(world)]);
    told('prometheus', await measurePrometheus(world, repetitions));
  } finally {
    await world.stop();
  }
}

async function measureLabellings(world: World, repetitions: number, told: Told): Promise<void> {
  told('labelling', await measureLabelling(world, repetitions, { heartbeats: false }));
  const heartbeats = await startHeartbeats(world);
  told('labelling, heartbeats', await measureLabelling(world, repetitions, { heartbeats: true }));
  await heartbeats.stop();
}

/** One operator with defaults, on nodes without labels. */
async function measureByDefault(world: World, repetitions: number, told: Told): Promise<void> {
  const bare = await measureBareFlips(world, repetitions);
  const operator = await world.startOperator({ intervalMs: DEFAULT_INTERVAL_MS });
  try {
    await world.createWatch(WATCH);
    await settled(world, WATCH);
    told('flips', await measureFlips(world, WATCH, { repetitions, bare }));
    told('status', await measureStatus(world, WATCH));
    told('memory', await measureMemory(world, operator, repetitions));
    // A cluster without unfit nodes needs no operator.
    await world.setThreshold(WATCH, BELOW_BUSY);
    const isBusy = async () => (await world.watch(WATCH)).status?.unfitNodes === busyNodes(world.nodes);
    await until('the busy nodes are unfit', isBusy, { timeout: 600_000 });
  } finally {
    await operator.terminate();
  }
}

/** Pass after pass, on labelled nodes, a tenth of them unfit. */
async function measurePasses(world: World, effort: Effort, told: Told, without: readonly Optional[]): Promise<void> {
  const operator = await world.startOperator();
  try {
    await until('it leads', async () => (await MetricsPage.of(operator)).sum('traffic_operator_leader') === 1);
    told('steady', await measureSteady(world, { operator, name: WATCH }, effort));
    told('memory, often', await measureMemoryOften(operator, effort));
    told('discovery', await measureDiscovery(world));
    // Last, because it leaves fifty TrafficWatches and their labels.
    if (!without.includes('many')) told('many', await measureManyWatches(world, operator, effort));
  } finally {
    await operator.kill();
  }
}

/** Only counts, and nothing that takes minutes: for a busy machine, on which times mean nothing. */
export async function measureQuickly(nodes: number, effort: Effort, told: Told): Promise<void> {
  const world = await startWorld(nodes, effort.intervalMs);
  try {
    told('labelling', await measureLabelling(world, effort.repetitions, { heartbeats: false }));
    const bare = await measureBareFlips(world, 1);
    const operator = await world.startOperator();
    await world.createWatch(WATCH);
    await settled(world, WATCH);
    told('steady', await measureSteady(world, { operator, name: WATCH }, effort));
    told('flips', await measureFlips(world, WATCH, { repetitions: 2, bare }));
    told('status', await measureStatus(world, WATCH));
    told('discovery', await measureDiscovery(world));
    told('connections', [connectionsOf(world)]);
    await operator.kill();
  } finally {
    await world.stop();
  }
}

/** An operator with almost nothing to do. */
export async function measureAtRest(effort: Effort, told: Told): Promise<void> {
  const world = await startWorld(IDLE_NODES, effort.intervalMs);
  try {
    told('idle', await measureIdle(world, effort.repetitions));
  } finally {
    await world.stop();
  }
}

function connectionsOf({ connections }: World): Figure {
  const what = 'connections to the API server, maximum of each operator';
  return { id: 'connections', what, unit: 'connections', samples: connections.peaks, atMost: CONNECTIONS };
}
