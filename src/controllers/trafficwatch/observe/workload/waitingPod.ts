import type { V1Affinity, V1NodeSelectorTerm, V1Pod, V1PodCondition } from '@kubernetes/client-node';
import { isLabelKey } from '../../../../api/trafficwatch/schema.ts';
import type { IndexFunctions } from '../../../../runtime/cache/store.ts';
import type { KubeObject } from '../../../../runtime/client/resource.ts';
import type { WaitingPod } from '../observation.ts';
import { labelValueOf } from '../../decide/labels/labelValue.ts';

/** Name of the index of waiting pods by their namespace. */
export const BY_NAMESPACE = 'namespace';

/** What cluster-autoscaler's simulated nodes have. A term with it matches no node that exists: docs/autoscalers.md. */
const TEMPLATE_NODE = 'cluster-autoscaler.kubernetes.io/template-node';
/** ErrReasonPod of the scheduler's plugin NodeAffinity (pkg/scheduler/framework/plugins/nodeaffinity). */
const NO_MATCH = "didn't match Pod's node affinity/selector";

/** A pod without a node, as the cache keeps it. Only pods that the scheduler found no node for have `waiting`. */
export interface CachedWaitingPod extends KubeObject {
  readonly waiting?: WaitingPod;
}

/** The informer index that finds the waiting pods of a namespace. */
export const waitingPodIndexes: IndexFunctions<CachedWaitingPod> = {
  [BY_NAMESPACE]: ({ metadata, waiting }) => (waiting === undefined ? [] : [metadata?.namespace ?? '']),
};

/**
 * Trims a pod that has no node for the cache.
 *
 * | condition PodScheduled                          | requires that a node is not unfit | kept          |
 * |-------------------------------------------------|-----------------------------------|---------------|
 * | False, Unschedulable, a node did not match the affinity or selector | yes           | what a decision uses |
 * | the same                                        | no                                | only metadata |
 * | any other, or none: the scheduler has not tried yet | any                           | only metadata |
 */
export function trimWaitingPod(pod: V1Pod): CachedWaitingPod {
  const { name = '', namespace, uid, resourceVersion, labels = {}, creationTimestamp } = pod.metadata ?? {};
  const metadata = { name, namespace, uid, resourceVersion };
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const keys = scheduled !== undefined && foundNoNode(scheduled) ? requiredKeys(pod.spec?.affinity) : [];
  if (keys.length === 0) return { metadata };
  const since = new Date(scheduled?.lastTransitionTime ?? creationTimestamp ?? 0).getTime();
  return { metadata, waiting: { name, labels, keys, since } };
}

function foundNoNode({ status, reason, message = '' }: V1PodCondition): boolean {
  return status === 'False' && reason === 'Unschedulable' && message.includes(NO_MATCH);
}

/**
 * The label keys by which every term that can match a node requires that the node is not unfit. With AtCreation, one
 * term has the key and its twin names the nodes that were unfit.
 */
function requiredKeys(affinity: V1Affinity | undefined): string[] {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const terms = required.filter(canMatchNode);
  const keys = [...new Set(terms.flatMap(keysOf))];
  return keys.filter((key) => terms.every((term) => keysOf(term).includes(key) || excludesNames(term)));
}

function excludesNames({ matchFields = [] }: V1NodeSelectorTerm): boolean {
  return matchFields.some(({ operator }) => operator === 'NotIn');
}

/** A term without expressions and fields matches no node: https://kubernetes.io/docs/reference/kubernetes-api/. */
function canMatchNode({ matchExpressions = [], matchFields = [] }: V1NodeSelectorTerm): boolean {
  const isEmpty = matchExpressions.length + matchFields.length === 0;
  return !isEmpty && !matchExpressions.some(({ key, operator }) => key === TEMPLATE_NODE && operator === 'In');
}

function keysOf({ matchExpressions = [] }: V1NodeSelectorTerm): string[] {
  const unfit = labelValueOf('above');
  return matchExpressions
    .filter(({ key, operator, values }) => operator === 'NotIn' && values?.includes(unfit) && isLabelKey(key))
    .map(({ key }) => key);
}
