import { until } from '../../harness/measured.ts';
import { createInformer } from '../../../src/runtime/cache/informer.ts';
import { createLogger } from '../../../src/runtime/process/logger.ts';
import { NODES } from '../../../src/runtime/client/resources.ts';
import { connect } from '../../harness/runtimeScene.ts';
import { countByVerb } from '../auditTail.ts';
import type { Figure } from '../figure.ts';
import { ABOVE_ALL, BELOW_BUSY, busyNodes } from '../shape.ts';
import type { World } from '../world.ts';
import { CONCURRENCY } from './labelling.ts';
import { unfitKey } from '../../harness/unfitKey.ts';

/**
 * The threshold goes below the use of the busy nodes, and back: exactly these nodes flip. A changed threshold applies
 * to the previous passes too, so the measurement contains no wait for the next pass.
 *
 * @param o.bare milliseconds of the same number of bare PATCHes
 */
export async function measureFlips(
  world: World,
  name: string,
  { repetitions, bare }: { repetitions: number; bare: readonly number[] },
): Promise<Figure[]> {
  const watcher = await startWatcher(world, unfitKey(name));
  const flips = busyNodes(world.nodes);
  const took: number[] = [];
  const patches: number[] = [];
  const gets: number[] = [];
  try {
    for (let n = 0; n < repetitions; n += 1) {
      const since = Date.now();
      const begin = performance.now();
      const [threshold, unfit] = n % 2 === 0 ? ([BELOW_BUSY, flips] as const) : ([ABOVE_ALL, 0] as const);
      await world.setThreshold(name, threshold);
      await until('all flips are seen', () => watcher.unfit() === unfit, { timeout: 120_000 });
      took.push(performance.now() - begin);
      await until('the audit log has them', async () => {
        return (countByVerb(await world.audit.requests(since)).get('patch nodes') ?? 0) >= flips;
      });
      const counts = countByVerb(await world.audit.requests(since));
      patches.push(counts.get('patch nodes') ?? 0);
      gets.push((counts.get('get nodes') ?? 0) + (counts.get('list nodes') ?? 0));
      // The status is written after all labels: the next measurement must start after it.
      await until('the status has them', async () => (await world.watch(name)).status?.unfitNodes === unfit, {
        timeout: 120_000,
      });
    }
  } finally {
    await watcher.stop();
  }
  const goal = flips === 1_000 ? { atMost: 4 } : {};
  return [
    {
      id: 'flips.visible',
      what: `${flips} flips, from the threshold change to the last watch event`,
      unit: 's',
      samples: took.map((ms) => ms / 1000),
      ...goal,
      limit: { what: `${flips} bare PATCHes`, samples: bare.map((ms) => ms / 1000) },
    },
    { id: 'flips.patches', what: `PATCHes of ${flips} flips`, unit: 'calls', samples: patches, atMost: flips },
    { id: 'flips.gets', what: `GETs and lists of nodes in ${flips} flips`, unit: 'calls', samples: gets, atMost: 0 },
  ];
}

/**
 * The milliseconds of as many bare PATCHes as there will be flips. No operator runs meanwhile, because it would
 * reconcile for each PATCH of a key with its suffix.
 */
export async function measureBareFlips({ bare, nodes }: World, repetitions: number): Promise<number[]> {
  const took: number[] = [];
  while (took.length < repetitions) {
    took.push(await bare.patchAll(busyNodes(nodes), `flips-${took.length}`, CONCURRENCY));
  }
  return took;
}

/** Another client, which counts the nodes that are labelled unfit. */
async function startWatcher({ plane }: World, key: string) {
  const { transport } = connect(plane.controlPlane);
  const stop = new AbortController();
  const informer = createInformer({
    transport,
    resource: NODES,
    metadataOnly: true,
    logger: createLogger('silent'),
    transform: ({ metadata }) => ({
      metadata: {
        name: metadata?.name,
        resourceVersion: metadata?.resourceVersion,
        labels: { [key]: metadata?.labels?.[key] ?? '' },
      },
    }),
  });
  const unfit = new Set<string>();
  informer.subscribe(({ object: { metadata } }) => {
    if (metadata?.labels?.[key] === 'true') unfit.add(metadata.name ?? '');
    else unfit.delete(metadata?.name ?? '');
  });
  const running = informer.run(stop.signal);
  await informer.whenSynced();
  return {
    unfit: () => unfit.size,
    stop: async () => {
      stop.abort();
      await running;
      await transport.close();
    },
  };
}
