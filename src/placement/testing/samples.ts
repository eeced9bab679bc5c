import type { V1Affinity, V1Pod } from '@kubernetes/client-node';
import fc from 'fast-check';
import type { PodPlacementSpec } from '../../api/podplacement/schema.ts';
import { TEMPLATE_NODE_LABEL } from '../../api/trafficwatch/label.ts';
import type { TrafficWatch } from '../../api/trafficwatch/schema.ts';
import { PLACEMENTS } from '../../api/trafficwatch/spec/placement.ts';
import { decidePodPlacement } from '../../controllers/trafficwatch/decide/workload/podPlacement.ts';
import type { PatchOperation } from '../podTerms.ts';

const KEYS = ['app', 'tier', 'example.com/team', 'constructor'];
const VALUES = ['a', 'b', ''];
const NODES = ['n1', 'n2', 'n3'];
/** The label keys of the TrafficWatches of a namespace. */
const LABEL_KEYS = [0, 1, 2, 3].map((index) => `w${index}.space.traffic.example.com/unfit`);

const labels = fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES), {
  maxKeys: 3,
  noNullPrototype: true,
});
const someValues = fc.uniqueArray(fc.constantFrom(...VALUES), { minLength: 1 });
const selectorExpression = fc.oneof(
  fc.record({ key: fc.constantFrom(...KEYS), operator: fc.constantFrom('In', 'NotIn'), values: someValues }),
  fc.record({ key: fc.constantFrom(...KEYS), operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);
const podSelector = fc.record(
  {
    matchLabels: fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES), {
      maxKeys: 1,
      noNullPrototype: true,
    }),
    matchExpressions: fc.array(selectorExpression, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

/** A PodPlacement as the operator writes it, from up to four TrafficWatches. Some entries have the same label key. */
export const placements: fc.Arbitrary<PodPlacementSpec> = fc
  .array(
    fc.record({
      labelKey: fc.constantFrom(...LABEL_KEYS),
      placement: fc.constantFrom(...PLACEMENTS),
      podSelector,
      avoidedNodes: fc.uniqueArray(fc.constantFrom(...NODES)),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((all) => {
    const watches = all.map(({ placement, ...status }, index) => ({
      metadata: { name: `w${index}`, namespace: 'space' },
      spec: { placement },
      status,
    }));
    return decidePodPlacement(watches as unknown as TrafficWatch[]).spec ?? {};
  });

const ofUser = fc.constantFrom(
  { key: 'disk', operator: 'In', values: ['ssd'] },
  { key: 'zone', operator: 'Exists' },
  { key: 'size', operator: 'Gt', values: ['3'] },
  { key: TEMPLATE_NODE_LABEL, operator: 'In', values: ['true'] },
  { key: TEMPLATE_NODE_LABEL, operator: 'Exists' },
);
const ofOperator = fc.record({
  key: fc.constantFrom(...LABEL_KEYS),
  operator: fc.constantFrom('NotIn', 'In'),
  values: fc.constantFrom(['true'], ['false'], ['true', 'x']),
});
const expressions = fc.array(fc.oneof(ofUser, ofOperator), { maxLength: 3 });
const fields = fc.array(
  fc.record({
    key: fc.constant('metadata.name'),
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.constantFrom(...NODES.map((name) => [name])),
  }),
  { maxLength: 3 },
);
const term = fc.record({ matchExpressions: expressions, matchFields: fields }, { requiredKeys: [] });
const preference = fc.record({
  weight: fc.constantFrom(1, 50, 100),
  preference: fc.record({ matchExpressions: expressions, matchFields: fields }, { requiredKeys: [] }),
});
const nodeAffinity = fc.record(
  {
    requiredDuringSchedulingIgnoredDuringExecution: fc.record({
      nodeSelectorTerms: fc.array(term, { minLength: 1, maxLength: 3 }),
    }),
    preferredDuringSchedulingIgnoredDuringExecution: fc.array(preference, { maxLength: 3 }),
  },
  { requiredKeys: [] },
);
const affinity = fc.record({ nodeAffinity, podAffinity: fc.constant({}) }, { requiredKeys: [] });

/** Pods that an API server accepts, without a namespace. */
export const pods: fc.Arbitrary<V1Pod> = fc
  .record(
    {
      labels,
      affinity: affinity as fc.Arbitrary<V1Affinity>,
      nodeName: fc.constantFrom('n1', undefined, undefined),
      owner: fc.constantFrom('DaemonSet', 'ReplicaSet', undefined),
      isController: fc.boolean(),
    },
    { requiredKeys: ['labels'] },
  )
  .map(({ labels, affinity, nodeName, owner, isController }) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'sample',
      labels,
      ...(owner && {
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: owner, name: 'x', uid: 'x', controller: isController === true },
        ],
      }),
    },
    spec: {
      containers: [{ name: 'main', image: 'registry.example.com/app:1' }],
      ...(affinity && { affinity }),
      ...(nodeName && { nodeName }),
    },
  }));

/** The pod after the patch; its operations only add fields to objects. */
export function patched(pod: V1Pod, patch: readonly PatchOperation[]): V1Pod {
  const copy = structuredClone(pod);
  for (const { path, value } of patch) {
    const names = path.slice(1).split('/');
    const last = names.pop()!;
    const parent = names.reduce<unknown>((object, name) => (object as Record<string, unknown>)[name], copy);
    (parent as Record<string, unknown>)[last] = structuredClone(value);
  }
  return copy;
}
