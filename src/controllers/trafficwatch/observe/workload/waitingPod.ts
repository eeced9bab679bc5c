import type { V1Pod, V1PodCondition } from '@kubernetes/client-node';
import type { IndexFunctions } from '../../../../runtime/cache/store.ts';
import type { KubeObject } from '../../../../runtime/client/resource.ts';
import type { WaitingPod } from '../observation.ts';
import { requiredKeys } from '../../model/affinity.ts';

/** Name of the index of waiting pods by their namespace. */
export const BY_NAMESPACE = 'namespace';

/** ErrReasonPod of the scheduler's plugin NodeAffinity (pkg/scheduler/framework/plugins/nodeaffinity). */
const NO_MATCH = "didn't match Pod's node affinity/selector";

/** A pod without a node, as the cache keeps it. Only pods that the scheduler found no node for have `waiting`. */
export interface CachedWaitingPod extends KubeObject {
  readonly waiting?: WaitingPod;
  /** Set instead of `waiting` if the waiting pods of the namespace take too much memory: see createBoundedInformer. */
  readonly isUnread?: boolean;
}

/** The informer index that finds the waiting pods of a namespace. */
export const waitingPodIndexes: IndexFunctions<CachedWaitingPod> = {
  [BY_NAMESPACE]: ({ metadata, waiting, isUnread = false }) =>
    waiting !== undefined || isUnread ? [metadata?.namespace ?? ''] : [],
};

/** Keeps of a pod that exceeds the memory of its namespace that it may be blocked. */
export function identityOfWaitingPod({ metadata, waiting }: CachedWaitingPod): CachedWaitingPod {
  return { metadata, ...(waiting !== undefined && { isUnread: true }) };
}

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
