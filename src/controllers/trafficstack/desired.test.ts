import type { V1ConfigMap } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import type { ComponentSpec, ComponentStatus, TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import { DEPLOYMENTS, SERVICES } from '../../runtime/client/resources.ts';
import type { BuiltIn } from '../contract/builtIn.ts';
import { Renderings, observeDesired, desiredStackOf } from './desired.ts';
import { at, component, EVERYWHERE, NOW, stackOf } from './testing/stacks.ts';

const OWN = { namespace: 'op', name: 'prometheus' };
const THEIRS = { namespace: 'monitoring', name: 'theirs' };
const THEIR_URL = 'http://theirs.monitoring.svc:9999';
const PROMETHEUS: BuiltIn = {
  ...{ type: 'Prometheus', fieldManager: 'measurement', isDeployed: true },
  render: () => [
    { resource: SERVICES, object: { metadata: OWN, spec: { ports: [{ name: 'web', port: 9090 }] } } as KubeObject },
    { resource: DEPLOYMENTS, object: { metadata: OWN, spec: {} } as KubeObject },
  ],
  externalProvider: () => ({
    ...{ resource: SERVICES, sought: 'a Prometheus', matches: () => true, problem: () => undefined },
    probe: { selectors: ['a=1'], metric: 'up', series: 'series', urlOf: () => THEIR_URL },
  }),
};
const files = { url: '${components.metrics.addresses[0]}:${components.metrics.ports.web}' };
const web = (): ComponentSpec => {
  const { workload } = component('web');
  const config = [{ name: 'etc', mountPath: '/etc', files }];
  return component('web', { dependsOn: ['metrics'], workload: { ...workload, config } });
};
const METRICS: ComponentStatus = {
  ...{ name: 'metrics', type: 'Prometheus', state: 'Ready', reason: '', message: '', since: at(0) },
};
const USES = { kind: 'Service', ...THEIRS, url: THEIR_URL };

/** The file of a component that depends on a Prometheus, in the first reconcile. @param answers whether the Prometheus of another owner answers */
async function fileWith(mode: ComponentSpec['mode'], answers: boolean, status: Partial<ComponentStatus> = {}) {
  const components = [{ name: 'metrics', type: 'Prometheus', mode } as const, web()];
  const stack: TrafficStack = stackOf(components, { components: [{ ...METRICS, ...status }] });
  const none = { get: () => undefined };
  const where = {
    renderings: new Renderings({ countNodes: () => 0, builtIns: [PROMETHEUS] }),
    allowed: EVERYWHERE,
    caches: {
      kinds: ['Service', 'Deployment', 'ConfigMap'].map((kind) => ({ resource: { kind }, overlay: none })),
      pods: { lister: { byIndex: () => [] } },
    },
    nodes: none,
    foreignObjects: {
      read: () => Promise.resolve(undefined),
      list: () => Promise.resolve([{ metadata: THEIRS }]),
    },
    probes: { proof: () => Promise.resolve(answers ? { is: 'Proven' } : { is: 'Unproven', lack: 'gives no answer' }) },
    ...{ measurable: () => 1, clock: { monotonic: () => 0 } },
    firstSeen: { of: () => ({ available: new Map(), stable: new Map(), awaiting: new Map() }) },
  } as unknown as Parameters<typeof observeDesired>[2];
  const desired = desiredStackOf(stack, where);
  if ('why' in desired) throw new Error(desired.why.message);
  const seen = await observeDesired(stack, desired, where, NOW);
  if ('why' in seen) throw new Error(seen.why.message);
  const found: V1ConfigMap | undefined = seen.observation.components[1]?.objects.find(
    ({ resource }) => resource.kind === 'ConfigMap',
  )?.object;
  return found?.data?.url;
}

const OF_OWN = 'prometheus.op.svc:9090';
const OF_THEIRS = 'theirs.monitoring.svc:9999';
it.each<[string, ComponentSpec['mode'], boolean, Partial<ComponentStatus>, string]>([
  ['its own with Managed', 'Managed', true, {}, OF_OWN],
  ['its own with Auto, if the other owner’s does not answer', 'Auto', false, {}, OF_OWN],
  ['that which answers, in the reconcile that finds it', 'Auto', true, {}, OF_THEIRS],
  ['that which answers, with External', 'External', true, {}, OF_THEIRS],
  ['the same after a restart', 'Auto', true, { mode: 'External', uses: USES }, OF_THEIRS],
  ['its own again', 'Managed', true, { mode: 'External', uses: USES }, OF_OWN],
])('a file has the address of the Prometheus that is used: %s', async (_, mode, answers, status, file) => {
  expect(await fileWith(mode, answers, status)).toBe(file);
});
