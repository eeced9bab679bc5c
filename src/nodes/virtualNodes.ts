import type { V1Affinity, V1Node, V1NodeSelectorRequirement, V1NodeSelectorTerm } from '@kubernetes/client-node';

/** A key that only virtual nodes have, or have with this value. */
interface Mark {
  readonly key: string;
  /** Undefined: any value. Set for a key that real nodes have with other values. */
  readonly value?: string;
}

/**
 * The marks of nodes without a host of their own: their pods run elsewhere, or nowhere. A mark counts as a label, an annotation or the key of
 * a taint, because the programs use several of these:
 *
 * | program                                   | label | taint | annotation |
 * |-------------------------------------------|-------|-------|------------|
 * | virtual-kubelet, also of AKS and Alibaba  | type=virtual-kubelet | virtual-kubelet.io/provider | |
 * | Admiralty                                 | virtual-kubelet.io/provider | the same | |
 * | virtual nodes of AKS, second version      | virtualization=virtualnode2 | virtual-kubelet.io/provider | |
 * | EKS Fargate                               | eks.amazonaws.com/compute-type=fargate | the same | |
 * | Liqo                                      | liqo.io/type=virtual-node | virtual-node.liqo.io/not-allowed | |
 * | interLink                                 | virtual-node.interlink/type | virtual-node.interlink/no-schedule | |
 * | Alibaba Elastic Container Instance        | k8s.aliyun.com/vnode | the same | |
 * | super nodes of Tencent Cloud              | node.kubernetes.io/instance-type=eklet | | |
 * | virtual nodes of Oracle Cloud             | node-role.kubernetes.io/virtual-node | | |
 * | KWOK                                      | type=kwok, by its documentation | kwok.x-k8s.io/node | kwok.x-k8s.io/node |
 */
const MARKS: readonly Mark[] = [
  { key: 'type', value: 'virtual-kubelet' },
  { key: 'type', value: 'kwok' },
  { key: 'virtual-kubelet.io/provider' },
  { key: 'virtualization', value: 'virtualnode2' },
  { key: 'eks.amazonaws.com/compute-type', value: 'fargate' },
  { key: 'liqo.io/type', value: 'virtual-node' },
  { key: 'virtual-node.liqo.io/not-allowed' },
  { key: 'virtual-node.interlink/type' },
  { key: 'virtual-node.interlink/no-schedule' },
  { key: 'k8s.aliyun.com/vnode' },
  { key: 'node.kubernetes.io/instance-type', value: 'eklet' },
  { key: 'node-role.kubernetes.io/virtual-node' },
  { key: 'kwok.x-k8s.io/node' },
];

/** The key that shows that a Node is virtual; undefined if none does. Metadata alone lacks the taints. */
export function virtualMark({ metadata, spec }: Pick<V1Node, 'metadata' | 'spec'>): string | undefined {
  const { labels = {}, annotations = {} } = metadata ?? {};
  const taints = spec?.taints ?? [];
  const has = ({ key, value }: Mark): boolean =>
    [labels[key], annotations[key], ...taints.flatMap((taint) => (taint.key === key ? [taint.value ?? ''] : []))].some(
      (found) => found !== undefined && (value === undefined || found === value),
    );
  return MARKS.find(has)?.key;
}

const REAL_NODES: readonly V1NodeSelectorRequirement[] = [...new Set(MARKS.map(({ key }) => key))].map((key) => {
  const values = MARKS.flatMap((mark) => (mark.key === key && mark.value !== undefined ? [mark.value] : []));
  return values.length === 0 ? { key, operator: 'DoesNotExist' } : { key, operator: 'NotIn', values };
});

/**
 * The affinity of a DaemonSet whose pods need a host: to nodes without a label of virtual nodes. Affinity does not see taints and annotations,
 * and the pods tolerate every taint, so they are also placed on a node that has only these.
 *
 * @param affinity what else is required of the nodes
 */
export function realNodes({ nodeAffinity, ...others }: V1Affinity = {}): V1Affinity {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, ...preferred } = nodeAffinity ?? {};
  const terms = required?.nodeSelectorTerms.map((term) => (isEmpty(term) ? term : withRealNodes(term)));
  const nodeSelectorTerms = terms ?? [withRealNodes({})];
  const both = { ...preferred, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return { ...others, nodeAffinity: both };
}

/** Such a term matches no node. With a requirement it would match some. */
function isEmpty({ matchExpressions = [], matchFields = [] }: V1NodeSelectorTerm): boolean {
  return matchExpressions.length + matchFields.length === 0;
}

function withRealNodes(term: V1NodeSelectorTerm): V1NodeSelectorTerm {
  return { ...term, matchExpressions: [...(term.matchExpressions ?? []), ...REAL_NODES] };
}
