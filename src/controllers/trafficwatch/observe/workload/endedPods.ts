import type { V1Pod } from '@kubernetes/client-node';
import type { TrafficWatch } from '../../../../api/trafficwatch/schema.ts';
import { createBoundedInformer } from '../../../../runtime/cache/bodyBudget.ts';
import type { Informer, InformerOptions } from '../../../../runtime/cache/informer.ts';
import type { IndexFunctions, InformerEvent } from '../../../../runtime/cache/store.ts';
import { keyOf, type KubeObject } from '../../../../runtime/client/resource.ts';
import { PODS } from '../../../../runtime/client/resources.ts';
import { placementKeys, requiredKeys } from '../../model/affinity.ts';

/** Name of the index of rejected pods by their namespace and the label keys that they require. */
export const BY_REQUIRED_KEY = 'requiredKey';
/** Bytes that a label key of a rejected pod takes in that index. */
const BYTES_OF_KEY = 400;
/** status.reason of a pod that a kubelet rejected because its node affinity or node selector does not match. */
const NODE_AFFINITY = 'NodeAffinity';
/**
 * The reason of the condition DisruptionTarget that the API server writes on an Eviction:
 * https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions
 */
const EVICTION = 'EvictionByEvictionAPI';

/** The part of a pod that left its node which an event needs. */
export interface LostPod {
  readonly labels: Readonly<Record<string, string>>;
  /** The label keys by which the operator placed the pod. Never empty. */
  readonly keys: readonly string[];
  readonly node: string;
  /** ms since the epoch by the node's clock. */
  readonly endedAt: number | undefined;
}

/** The parts of a pod in the phase Failed or Succeeded that the cache keeps. */
export interface EndedPod extends KubeObject {
  /** Set only if a kubelet rejected the pod for its node affinity, and the pod requires that its node is not unfit. */
  readonly rejected?: LostPod;
  /** Set only if the pod was evicted by the eviction API, and requires or prefers that its node is not unfit. */
  readonly evicted?: LostPod;
}

function endedAtOf({ status }: V1Pod): number | undefined {
  const at = status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  return at === undefined ? undefined : new Date(at).getTime();
}

/** The informer index that finds the rejected pods that a TrafficWatch may select. */
export const endedPodIndexes: IndexFunctions<EndedPod> = {
  [BY_REQUIRED_KEY]: ({ metadata, rejected }) =>
    rejected === undefined ? [] : rejected.keys.map((key) => inNamespace(metadata?.namespace, key)),
};

/** The value of the index BY_REQUIRED_KEY. */
export function inNamespace(namespace: string | undefined, labelKey: string): string {
  return `${namespace ?? ''} ${labelKey}`;
}

function isEvicted({ status }: V1Pod): boolean {
  const target = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  return target?.status === 'True' && target.reason === EVICTION;
}

/**
 * Trims an ended pod for the cache.
 *
 * | rejected by a kubelet for its node affinity | evicted by the eviction API | its terms about unfit nodes | kept                              |
 * |---------------------------------------------|-----------------------------|-----------------------------|-----------------------------------|
 * | yes                                         | any                         | required                    | what an event needs, as `rejected` |
 * | yes                                         | any                         | others: the affinity is the user's own | only metadata          |
 * | no                                          | yes                         | required or preferred       | what an event needs, as `evicted` |
 * | no                                          | yes                         | none                        | only metadata                     |
 * | no                                          | no                          | any                         | only metadata                     |
 */
export function trimEndedPod(pod: V1Pod): EndedPod {
  const { name, namespace, uid, resourceVersion, labels = {} } = pod.metadata ?? {};
  const metadata = { name, namespace, uid, resourceVersion };
  const affinity = pod.spec?.affinity;
  const lost = (keys: readonly string[]): LostPod | undefined =>
    keys.length === 0 ? undefined : { labels, keys, node: pod.spec?.nodeName ?? '', endedAt: endedAtOf(pod) };
  const isRejected = pod.status?.reason === NODE_AFFINITY;
  const rejected = isRejected ? lost(requiredKeys(affinity)) : undefined;
  const evicted = !isRejected && isEvicted(pod) ? lost(placementKeys(affinity)) : undefined;
  return { metadata, ...(rejected && { rejected }), ...(evicted && { evicted }) };
}

/**
 * The informer of ended pods in all namespaces. The API server selects them by phase, so that running pods use no
 * memory here. Also of evicted pods: before a kubelet deletes a pod, it sets its phase to Failed or Succeeded
 * (https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase), so that no pod with a node has to be
 * watched. The pod garbage collector keeps at most 12,500 ended pods. If the ended pods of a namespace take too much memory, the
 * last ones have no event.
 */
export function createEndedPodInformer(
  options: Pick<InformerOptions<EndedPod>, 'transport' | 'logger' | 'metrics'>,
): Informer<EndedPod> {
  const selection = {
    ...options,
    resource: PODS,
    fieldSelector: 'status.phase!=Pending,status.phase!=Running',
    transform: trimEndedPod,
    indexes: endedPodIndexes,
  };
  const costOf = ({ rejected }: EndedPod): number => BYTES_OF_KEY * (rejected?.keys.length ?? 0);
  return createBoundedInformer<EndedPod>(selection, ({ metadata }) => ({ metadata }), { costOf });
}

/** Whether an event is about a pod that was lost before: users may change a pod that has ended as often as they like. */
export function wasLost(event: InformerEvent<EndedPod>): boolean {
  const { object } = event;
  const old = event.type === 'update' ? event.old : undefined;
  return (old?.rejected ?? old?.evicted) !== undefined && old?.metadata?.uid === object.metadata?.uid;
}

/** The keys of the TrafficWatches that may select a lost pod: those in its namespace that claim a label key of the pod. */
export function watchKeysOf(
  { metadata, rejected, evicted }: EndedPod,
  watchesOn: (labelKey: string) => readonly TrafficWatch[],
): string[] {
  const watches = (rejected ?? evicted)?.keys.flatMap(watchesOn) ?? [];
  return [...new Set(watches.filter((watch) => watch.metadata?.namespace === metadata?.namespace).map(keyOf))];
}
