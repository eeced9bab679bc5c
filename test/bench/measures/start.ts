import type { Figure } from '../figure.ts';
import type { OperatorOptions, World } from '../world.ts';

/** From the spawn of the process to the success of /readyz, when all caches are synced. */
export async function measureStart(world: World, repetitions: number): Promise<Figure[]> {
  const own = await starts(world, repetitions, {});
  // The exporter stays: no controller here would complete the deletion of its namespace.
  const existing = await starts(world, repetitions, { prometheusUrl: world.prometheus.url, args: ['--node-exporter'] });
  return [
    {
      id: 'start.synced',
      what: 'start of the process to synced caches',
      unit: 'ms',
      samples: own.ready,
      atMost: 1_000,
      limit: { what: 'bare watch-list of metadata', samples: own.bare, atMostTimes: 2.5 },
    },
    {
      id: 'start.syncedWholeNodes',
      what: 'start with an existing Prometheus, which needs the addresses of nodes',
      unit: 'ms',
      samples: existing.ready,
      limit: { what: 'bare watch-list of whole nodes', samples: existing.bare },
    },
  ];
}

async function starts(
  world: World,
  repetitions: number,
  options: OperatorOptions,
): Promise<{ ready: number[]; bare: number[] }> {
  const ready: number[] = [];
  const lists: number[] = [];
  const metadataOnly = options.prometheusUrl === undefined;
  // The first of each does not count: files, code and the caches of the server are cold.
  for (let n = 0; n <= repetitions; n += 1) {
    const listed = await world.bare.watchList({ metadataOnly });
    const operator = await world.startOperator(options);
    await operator.terminate();
    if (n === 0) continue;
    lists.push(listed);
    ready.push(operator.readyAt - operator.startedAt);
  }
  return { ready, bare: lists };
}
