import { MAX_NODES_IN_FULL } from '../../../src/controllers/trafficwatch/decide/report/statusNodes.ts';
import type { Figure } from '../figure.ts';
import type { World } from '../world.ts';

const KIB = 1024;

/** The size of the status of a TrafficWatch, as JSON. */
export async function measureStatus(world: World, name: string): Promise<Figure[]> {
  const { status } = await world.watch(name);
  return [
    {
      id: 'status.size',
      what: `status of a TrafficWatch that lists ${Object.keys(status?.nodes ?? {}).length} nodes`,
      unit: 'KiB',
      samples: [Buffer.byteLength(JSON.stringify(status)) / KIB],
      atMost: world.nodes <= MAX_NODES_IN_FULL ? 64 : 16,
    },
  ];
}
