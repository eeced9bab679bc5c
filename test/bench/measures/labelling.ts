import { until } from '../../harness/measured.ts';
import type { Operator } from '../../harness/operator.ts';
import { countByVerb } from '../auditTail.ts';
import type { Figure } from '../figure.ts';
import { MetricsPage } from '../metricsPage.ts';
import { DEFAULT_INTERVAL_MS, type World } from '../world.ts';

/** Maximum number of concurrent calls of the operator, and therefore of the bare client. */
export const CONCURRENCY = 16;
const LONGEST_MS = 900_000;

/** From the creation of a TrafficWatch to the response of the last PATCH of all nodes. */
export async function measureLabelling(
  world: World,
  repetitions: number,
  { heartbeats }: { heartbeats: boolean },
): Promise<Figure[]> {
  const bare: number[] = [];
  const took: number[] = [];
  const patches: number[] = [];
  const gets: number[] = [];
  for (let n = 0; n < repetitions; n += 1) {
    bare.push(await world.bare.patchAll(world.nodes, String(n % 2 === 0), CONCURRENCY));
    // Concurrent passes cost the servers and the operator as much as without a measurement.
    const operator = await world.startOperator({ intervalMs: DEFAULT_INTERVAL_MS });
    const labelled = await label(world, operator, `labelling-${n}`);
    took.push(labelled.ms);
    patches.push(labelled.patches);
    gets.push(labelled.gets);
    await operator.terminate();
  }
  const id = heartbeats ? 'labellingWithHeartbeats' : 'labelling';
  const how = heartbeats ? ', heartbeats on' : '';
  return [
    {
      id: `${id}.all`,
      what: `first labelling of all nodes${how}`,
      unit: 's',
      samples: took.map((ms) => ms / 1000),
      atMost: heartbeats ? 40 : 25,
      limit: { what: 'bare PATCHes', samples: bare.map((ms) => ms / 1000), atMostTimes: 1.3 },
    },
    {
      id: `${id}.patches`,
      what: `PATCHes in the first labelling${how}`,
      unit: 'calls',
      samples: patches,
      atMost: world.nodes,
    },
    {
      id: `${id}.gets`,
      what: `GETs and lists of nodes in the first labelling${how}`,
      unit: 'calls',
      samples: gets,
      atMost: 0,
    },
  ];
}

async function label(world: World, operator: Operator, name: string) {
  await twoPasses(operator);
  const since = Date.now();
  await world.createWatch(name);
  const answered = async () =>
    (await world.audit.requests(since)).filter((r) => r.verb === 'patch' && r.resource === 'nodes');
  // The audit log contains the times, so rare polls are enough and do not slow down the servers and the operator.
  const done = async () => (await answered()).length >= world.nodes;
  await until('all nodes are labelled', done, { timeout: LONGEST_MS, every: 500 });
  const last = (await answered()).reduce((latest, { answeredAt }) => Math.max(latest, answeredAt), 0);
  const counts = countByVerb(await world.audit.requests(since));
  await world.deleteWatch(name);
  return {
    ms: last - since,
    patches: counts.get('patch nodes') ?? 0,
    gets: (counts.get('get nodes') ?? 0) + (counts.get('list nodes') ?? 0),
  };
}

/** A verdict needs two passes that agree. The operator has nothing else to do meanwhile. */
async function twoPasses(operator: Operator): Promise<void> {
  await until('two passes are over', async () => (await MetricsPage.of(operator)).passes >= 2);
}
