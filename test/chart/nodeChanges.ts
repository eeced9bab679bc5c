/** Changes to a Node, for tests of who may make them. */

/** Label keys that are the operator's. */
export const OWN = 'web.traffic.example.com/unfit';
export const OTHER = 'other.traffic.example.com/unfit';

/** A Node that has something of everything that could be taken away. */
export const NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'n1',
    labels: { 'kubernetes.io/hostname': 'n1', [OTHER]: 'false' },
    annotations: { a: 'b' },
    finalizers: ['example.com/kept'],
  },
  spec: { taints: [{ key: 'example.com/kept', effect: 'NoSchedule' }] },
};

/** A merge patch of labels; null takes one off. */
export const labels = (change: Record<string, string | null>): object => ({ metadata: { labels: change } });

/** A spec with another taint than the Node's. */
export const TAINT = { taints: [{ key: 'example.com/evil', effect: 'NoExecute' }] };
const OWNER = { apiVersion: 'v1', kind: 'Node', name: 'gone', uid: '0' };

/** A name, the change, and how the refusal ends: with every field that is not the operator's. */
export const REFUSED: [string, object, string][] = [
  ['a label of another owner', labels({ team: 'x' }), 'team'],
  ['another value of such a label', labels({ 'kubernetes.io/hostname': 'n2' }), 'kubernetes.io/hostname'],
  ['its removal', labels({ 'kubernetes.io/hostname': null }), 'kubernetes.io/hostname'],
  ['the suffix without a prefix', labels({ 'traffic.example.com/unfit': 'true' }), 'traffic.example.com/unfit'],
  ['a longer name', labels({ 'web.traffic.example.com/unfit2': 'true' }), 'web.traffic.example.com/unfit2'],
  ['another domain', labels({ 'webtraffic.example.com/unfit': 'true' }), 'webtraffic.example.com/unfit'],
  ['the suffix as a name', labels({ 'x/traffic.example.com.unfit': 'true' }), 'x/traffic.example.com.unfit'],
  ['an annotation', { metadata: { annotations: { x: 'y' } } }, 'metadata.annotations'],
  ['the removal of all annotations', { metadata: { annotations: null } }, 'metadata.annotations'],
  ['an owner', { metadata: { ownerReferences: [OWNER] } }, 'metadata.ownerReferences'],
  ['a finalizer', { metadata: { finalizers: ['example.com/kept', 'example.com/x'] } }, 'metadata.finalizers'],
  ['the removal of finalizers', { metadata: { finalizers: null } }, 'metadata.finalizers'],
  ['a field of the metadata that has no use', { metadata: { generateName: 'x' } }, 'metadata.generateName'],
  ['a taint', { spec: TAINT }, 'spec'],
  ['the removal of all taints', { spec: { taints: null } }, 'spec'],
  ['a node that takes no pods', { spec: { unschedulable: true } }, 'spec'],
  ['a provider ID', { spec: { providerID: 'x' } }, 'spec'],
  ['a label together with one of its own', labels({ [OWN]: 'true', team: 'x' }), 'team'],
  [
    'an annotation together with one of its own labels',
    { metadata: { labels: { [OWN]: 'true' }, annotations: { x: 'y' } } },
    'metadata.annotations',
  ],
  ['a taint together with one of its own labels', { ...labels({ [OWN]: 'true' }), spec: TAINT }, 'spec'],
];
