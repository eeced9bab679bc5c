import type { V1EndpointSlice } from '@kubernetes/client-node';
import type { Resource } from '../../../src/runtime/client/resource.ts';
import { CONFIG_MAPS } from '../../../src/runtime/client/resources.ts';
import { until } from '../../harness/measured.ts';
import { countByVerb } from '../auditTail.ts';
import type { Figure } from '../figure.ts';
import { NAMESPACE } from '../plane.ts';
import { nodeName } from '../shape.ts';
import type { World } from '../world.ts';

const ENDPOINT_SLICES: Resource<V1EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
};
const EXPORTER = { namespace: `${NAMESPACE}-node-exporter`, name: 'node-exporter' };
/** The default of the Kubernetes controller (--max-endpoints-per-slice). */
const ENDPOINTS_A_SLICE = 100;
const WRITE_EVERY_MS = 10_000;
/** Targets beyond the capacity of the ConfigMaps are not written. */
const MOST_JOINING = 10_000;
const KIB = 1024;

/** Exporters join, a hundred nodes at a time, until each node has one, or 10,000 nodes have. */
export async function measureDiscovery(world: World): Promise<Figure[]> {
  const nodes = Math.min(world.nodes, MOST_JOINING);
  const since = Date.now();
  for (let from = 0; from < nodes; from += ENDPOINTS_A_SLICE) {
    await join(world, from, Math.min(ENDPOINTS_A_SLICE, nodes - from));
  }
  const joined = Date.now();
  let data: Record<string, string> = {};
  await until(
    'all nodes are targets',
    async () => {
      const live = await world.plane.client.get(CONFIG_MAPS, { namespace: NAMESPACE, name: 'prometheus-targets' });
      data = live.data ?? {};
      return (data['targets.json']?.match(/"targets"/g) ?? []).length === nodes;
    },
    { timeout: 120_000 },
  );
  const counts = countByVerb(await world.audit.requests(since));
  const allowed = 1 + Math.ceil((joined - since) / WRITE_EVERY_MS) + 1;
  const bytes = Object.values(data).reduce((sum, file) => sum + Buffer.byteLength(file), 0);
  return [
    {
      id: 'discovery.size',
      what: `ConfigMap of scrape targets with ${nodes} nodes`,
      unit: 'KiB',
      samples: [bytes / KIB],
      atMost: 900_000 / KIB,
    },
    {
      id: 'discovery.writes',
      what: `writes of the ConfigMap while ${nodes} nodes joined within ${Math.round((joined - since) / 1000)} s`,
      unit: 'calls',
      samples: [counts.get('patch configmaps') ?? 0],
      atMost: allowed,
    },
  ];
}

async function join({ plane }: World, from: number, count: number): Promise<void> {
  await plane.client.create(ENDPOINT_SLICES, {
    metadata: {
      namespace: EXPORTER.namespace,
      name: `${EXPORTER.name}-${from}`,
      labels: { 'kubernetes.io/service-name': EXPORTER.name },
    },
    addressType: 'IPv4',
    ports: [{ name: 'metrics', port: 9100, protocol: 'TCP' }],
    endpoints: Array.from({ length: count }, (_, n) => ({
      addresses: [`198.18.${((from + n) >> 8) & 255}.${(from + n) & 255}`],
      nodeName: nodeName(from + n),
      conditions: { ready: true, serving: true, terminating: false },
    })),
  });
}
