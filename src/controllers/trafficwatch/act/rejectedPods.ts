import type { V1Pod } from '@kubernetes/client-node';
import { createSelectorMatcher, requirementsOf } from '../../../api/labelMatcher.ts';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import type { EventRecorder } from '../../../runtime/controller/events.ts';
import { createBoundedInformer } from '../../../runtime/cache/bodyBudget.ts';
import type { Informer, InformerOptions, Lister } from '../../../runtime/cache/informer.ts';
import type { IndexFunctions } from '../../../runtime/cache/store.ts';
import { keyOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { PODS } from '../../../runtime/client/resources.ts';
import { sideOfLabel } from '../model/label.ts';
import { decideRejections, type Rejection } from '../decide/report/events.ts';
import { MOST_REQUIREMENTS } from '../decide/workload/blockedPods.ts';
import { workloadSelectorOf } from '../decide/workload/podPlacement.ts';
import { requiredKeys } from '../model/affinity.ts';
import type { Observation } from '../observe/observation.ts';

/** Name of the index of rejected pods by their namespace and the label keys that they require. */
const BY_REQUIRED_KEY = 'requiredKey';
/** Bytes that a label key of a rejected pod takes in that index. */
const BYTES_OF_KEY = 400;
/** status.reason of a pod that a kubelet rejected because its node affinity or node selector does not match. */
const NODE_AFFINITY = 'NodeAffinity';

/** The parts of a failed pod that the cache keeps. */
export interface FailedPod extends KubeObject {
  /** Set only if a kubelet rejected the pod for its node affinity, and the pod requires that its node is not unfit. */
  readonly rejected?: {
    readonly labels: Readonly<Record<string, string>>;
    /** The label keys by which the pod requires that its node is not unfit. Never empty. */
    readonly keys: readonly string[];
    readonly node: string;
    /** ms since the epoch by the node's clock. */
    readonly failedAt: number | undefined;
  };
}

function failedAtOf({ status }: V1Pod): number | undefined {
  const at = status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  return at === undefined ? undefined : new Date(at).getTime();
}

/** The informer index that finds the rejected pods that a TrafficWatch may select. */
export const failedPodIndexes: IndexFunctions<FailedPod> = {
  [BY_REQUIRED_KEY]: ({ metadata, rejected }) =>
    rejected === undefined ? [] : rejected.keys.map((key) => inNamespace(metadata?.namespace, key)),
};

function inNamespace(namespace: string | undefined, labelKey: string): string {
  return `${namespace ?? ''} ${labelKey}`;
}

/**
 * Trims a failed pod for the cache.
 *
 * | rejected by a kubelet for its node affinity | requires that its node is not unfit | kept                |
 * |---------------------------------------------|-------------------------------------|---------------------|
 * | yes                                         | yes                                 | what an event needs |
 * | yes                                         | no: the affinity is the user's own  | only metadata       |
 * | no                                          | any                                 | only metadata       |
 */
export function trimFailedPod(pod: V1Pod): FailedPod {
  const { name, namespace, uid, resourceVersion, labels = {} } = pod.metadata ?? {};
  const metadata = { name, namespace, uid, resourceVersion };
  const keys = pod.status?.reason === NODE_AFFINITY ? requiredKeys(pod.spec?.affinity) : [];
  if (keys.length === 0) return { metadata };
  return { metadata, rejected: { labels, keys, node: pod.spec?.nodeName ?? '', failedAt: failedAtOf(pod) } };
}

/**
 * The informer of failed pods in all namespaces. The API server selects them by phase, so that running pods use no
 * memory here. The pod garbage collector keeps at most 12,500 terminated pods. If the failed pods of a namespace take too much memory, the last
 * ones have no event.
 */
export function createFailedPodInformer(
  options: Pick<InformerOptions<FailedPod>, 'transport' | 'logger' | 'metrics'>,
): Informer<FailedPod> {
  const selection = {
    ...options,
    resource: PODS,
    fieldSelector: 'status.phase=Failed',
    transform: trimFailedPod,
    indexes: failedPodIndexes,
  };
  const costOf = ({ rejected }: FailedPod): number => BYTES_OF_KEY * (rejected?.keys.length ?? 0);
  return createBoundedInformer<FailedPod>(selection, ({ metadata }) => ({ metadata }), { costOf });
}

function rejectionOf({ metadata, rejected }: FailedPod): Rejection {
  const { node = '', failedAt } = rejected ?? {};
  return { uid: metadata?.uid ?? '', pod: metadata?.name ?? '', node, failedAt };
}

/** The nodes labelled as unfit. In a rename, under either key: the pods may be scheduled by either. */
function unfitNodesOf({ keys, view }: Observation): Set<string> {
  return new Set(
    view.nodes
      .filter(({ labels }) => keys.claimed.some((key) => sideOfLabel(labels[key]) === 'above'))
      .map(({ name }) => name),
  );
}

/** Emits an event on a TrafficWatch when a kubelet has rejected pods of its workload after a restart. */
export class PodRejections {
  readonly #pods: Pick<Lister<FailedPod>, 'byIndex'>;
  readonly #events: Pick<EventRecorder, 'event'>;
  /** UIDs of the pods that were checked, by the TrafficWatch's key. */
  readonly #seen = new Map<string, ReadonlySet<string>>();

  constructor(o: { failedPods: Pick<Lister<FailedPod>, 'byIndex'>; events: Pick<EventRecorder, 'event'> }) {
    this.#pods = o.failedPods;
    this.#events = o.events;
  }

  /** Emits events for new rejections. Call in every reconcile of a TrafficWatch by the leader. */
  tell(o: Observation): void {
    const key = keyOf(o.watch);
    const rejections = this.#podsOf(o).map(rejectionOf);
    // The usual case: do not compute the unfit nodes.
    if (rejections.length === 0) {
      this.#seen.delete(key);
      return;
    }
    const seen = this.#seen.get(key) ?? new Set();
    const decision = decideRejections({ rejections, seen, unfitNodes: unfitNodesOf(o), now: o.now });
    this.#seen.set(key, decision.seen);
    for (const { type, reason, note } of decision.events) this.#events.event(o.watch, type, reason, note);
  }

  #podsOf(o: Observation): readonly FailedPod[] {
    const { namespace } = o.watch.metadata ?? {};
    const found = o.keys.claimed.flatMap((key) => this.#pods.byIndex(BY_REQUIRED_KEY, inNamespace(namespace, key)));
    if (found.length === 0) return found;
    const selector = workloadSelectorOf(o);
    if (selector === undefined || requirementsOf(selector) > MOST_REQUIREMENTS) return [];
    const matches = createSelectorMatcher(selector);
    return found.filter(({ rejected }) => matches(rejected?.labels ?? {}));
  }

  /** Call when the TrafficWatch of this key is deleted. */
  forget(key: string): void {
    this.#seen.delete(key);
  }
}

/** The keys of the TrafficWatches that may select a rejected pod: those in its namespace whose label the pod requires. */
export function watchKeysOf(
  { metadata, rejected }: FailedPod,
  watchesOn: (labelKey: string) => readonly TrafficWatch[],
): string[] {
  const watches = rejected?.keys.flatMap(watchesOn) ?? [];
  return [...new Set(watches.filter((watch) => watch.metadata?.namespace === metadata?.namespace).map(keyOf))];
}
