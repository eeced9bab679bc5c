import type { V1ManagedFieldsEntry, V1ObjectMeta, V1OwnerReference } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { foreignOwnerOf } from './component.ts';

const ref = (kind: string, name: string, controller = true): V1OwnerReference => {
  return { apiVersion: 'v1', kind, name, uid: name, controller };
};
const manages = (manager: string, fields: object, subresource?: string): V1ManagedFieldsEntry => {
  return { manager, operation: 'Update', fieldsV1: fields, ...(subresource !== undefined && { subresource }) };
};
const SPEC = { 'f:spec': { 'f:replicas': {} } };
const managedFields = [
  manages('kubectl-client-side-apply', SPEC),
  manages('autoscaler', SPEC, 'scale'),
  manages('kube-controller-manager', { 'f:status': {} }, 'status'),
  manages('labeller', { 'f:metadata': { 'f:labels': {} } }),
];
const helm = { 'meta.helm.sh/release-name': 'orders', 'meta.helm.sh/release-namespace': 'databases' };

it.each<[string, V1ObjectMeta, string | undefined]>([
  [
    'another stack, with its component',
    { ownerReferences: [ref('TrafficStack', 'other')], labels: { 'traffic.example.com/component': 'db' } },
    'the TrafficStack other, component db',
  ],
  ['another stack', { ownerReferences: [ref('TrafficStack', 'other')] }, 'the TrafficStack other'],
  [
    'its controller, before other owners, helm and managers',
    { ownerReferences: [ref('Team', 'a', false), ref('ReplicaSet', 'web-64fd')], annotations: helm, managedFields },
    'ReplicaSet web-64fd',
  ],
  ['its owner', { ownerReferences: [ref('Team', 'a', false)], managedFields }, 'Team a'],
  ['the release of helm', { annotations: helm, managedFields }, 'the helm release databases/orders'],
  ['the same, without a namespace', { annotations: { 'meta.helm.sh/release-name': 'a' } }, 'the helm release a'],
  ['who manages its spec', { managedFields }, 'the field manager kubectl-client-side-apply'],
  [
    'all who do, each once',
    { managedFields: [manages('b', { 'f:data': {} }), manages('a', SPEC), manages('a', SPEC)] },
    'the field managers a, b',
  ],
  [
    'who manages its labels, if nobody manages more',
    { managedFields: managedFields.slice(2) },
    'the field manager labeller',
  ],
  ['nobody who is known', {}, undefined],
])('an object of another owner is of %s', (_, metadata, owner) => {
  expect(foreignOwnerOf({ metadata })).toBe(owner);
});
