import type { Operator } from '../../harness/operator.ts';
import type { Effort } from '../effort.ts';
import type { Figure } from '../figure.ts';
import { MetricsPage } from '../metricsPage.ts';
import { residentBytes } from '../../harness/processUse.ts';
import { percentile } from '../statistics.ts';
import type { World } from '../world.ts';
import { eachPass, settled } from './steady.ts';

const WATCHES = 50;
const BYTES_A_NODE_AND_WATCH = 200;

/** Fifty TrafficWatches, each with its own label on every node, in addition to the existing one. */
export async function measureManyWatches(world: World, operator: Operator, effort: Effort): Promise<Figure[]> {
  const before = residentBytes(operator.pid);
  const names = Array.from({ length: WATCHES - 1 }, (_, n) => `many-${n}`);
  for (const name of names) await world.createWatch(name);
  for (const name of names) await settled(world, name);
  const p99: number[] = [];
  const failed: number[] = [];
  const queries: number[] = [];
  const resident: number[] = [];
  for (let n = 0; n < effort.repetitions; n += 1) {
    const first = await MetricsPage.of(operator);
    p99.push(percentile(await eachPass(operator, { count: effort.passes, intervalMs: effort.intervalMs }), 0.99));
    const last = await MetricsPage.of(operator);
    failed.push(last.failedSince(first));
    queries.push((ratesQueries(last) - ratesQueries(first)) / (last.allPasses - first.allPasses));
    resident.push((residentBytes(operator.pid) - before) / world.nodes / names.length);
  }
  return [
    {
      id: 'many.p99',
      what: `pass with ${WATCHES} TrafficWatches, to the end of the last reconcile, 99th percentile`,
      unit: 'ms',
      samples: p99,
      atMost: 1_000,
    },
    { id: 'many.failed', what: 'failed passes', unit: 'passes', samples: failed, atMost: 0 },
    { id: 'many.queries', what: 'rate queries per pass', unit: 'calls', samples: queries, atMost: 1 },
    {
      id: 'many.memory',
      what: 'resident memory of each further TrafficWatch, per node',
      unit: 'bytes',
      samples: resident,
      atMost: BYTES_A_NODE_AND_WATCH,
    },
  ];
}

const ratesQueries = (page: MetricsPage): number =>
  page.sum('traffic_operator_prometheus_query_duration_seconds_count', 'kind="rates"');
