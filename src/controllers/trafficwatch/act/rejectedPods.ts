import type { V1Pod } from '@kubernetes/client-node';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import type { EventRecorder } from '../../../runtime/controller/events.ts';
import { createInformer, type Informer, type InformerOptions, type Lister } from '../../../runtime/cache/informer.ts';
import type { IndexFunctions } from '../../../runtime/cache/store.ts';
import { keyOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { PODS } from '../../../runtime/client/resources.ts';
import { sideOfLabel } from '../decide/labels/labelValue.ts';
import { decideRejections, type Rejection } from '../decide/report/rejections.ts';
import type { Observation } from '../observe/observation.ts';

/** Name of the index of failed pods by their Deployment. */
const BY_DEPLOYMENT = 'deployment';
/** status.reason of a pod that a kubelet rejected because its node affinity or node selector does not match. */
const NODE_AFFINITY = 'NodeAffinity';

/** The parts of a failed pod that the cache keeps. */
export interface FailedPod extends KubeObject {
  /** namespace/name of the Deployment. Set only if a kubelet rejected the pod for its node affinity. */
  readonly deployment?: string;
  readonly node?: string;
  /** ms since the epoch by the node's clock. */
  readonly failedAt?: number | undefined;
}

/** The Deployment of a pod. A ReplicaSet is named after its Deployment and the label pod-template-hash of its pods. */
function deploymentOf({ metadata }: V1Pod): string | undefined {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true);
  const suffix = `-${metadata?.labels?.['pod-template-hash'] ?? ''}`;
  if (owner?.kind !== 'ReplicaSet' || suffix === '-' || !owner.name.endsWith(suffix)) return undefined;
  return `${metadata?.namespace ?? ''}/${owner.name.slice(0, -suffix.length)}`;
}

function failedAtOf({ status }: V1Pod): number | undefined {
  const at = status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  return at === undefined ? undefined : new Date(at).getTime();
}

/** The informer index that finds the rejected pods of a Deployment. */
export const failedPodIndexes: IndexFunctions<FailedPod> = {
  [BY_DEPLOYMENT]: ({ deployment }) => (deployment === undefined ? [] : [deployment]),
};

/** Trims a failed pod for the cache. Of a pod that failed for another reason, only its metadata is kept. */
export function trimFailedPod(pod: V1Pod): FailedPod {
  const { name, namespace, uid, resourceVersion } = pod.metadata ?? {};
  const metadata = { name, namespace, uid, resourceVersion };
  const deployment = pod.status?.reason === NODE_AFFINITY ? deploymentOf(pod) : undefined;
  if (deployment === undefined) return { metadata };
  return { metadata, deployment, node: pod.spec?.nodeName ?? '', failedAt: failedAtOf(pod) };
}

/**
 * The informer of failed pods in all namespaces. The API server selects them by phase, so that running pods use no
 * memory here. The pod garbage collector keeps at most 12,500 terminated pods.
 */
export function createFailedPodInformer(
  options: Pick<InformerOptions<FailedPod>, 'transport' | 'logger' | 'metrics'>,
): Informer<FailedPod> {
  return createInformer<FailedPod>({
    ...options,
    resource: PODS,
    fieldSelector: 'status.phase=Failed',
    transform: trimFailedPod,
    indexes: failedPodIndexes,
  });
}

function rejectionOf({ metadata, node = '', failedAt }: FailedPod): Rejection {
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

/** Emits an event on a TrafficWatch when a kubelet has rejected pods of its Deployment after a restart. */
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
    // The Deployment has the name of its TrafficWatch.
    const rejections = this.#pods.byIndex(BY_DEPLOYMENT, key).map(rejectionOf);
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

  /** Call when the TrafficWatch of this key is deleted. */
  forget(key: string): void {
    this.#seen.delete(key);
  }
}

/** The key of the TrafficWatch of a rejected pod, which is the key of its Deployment. Undefined if there is none. */
export function watchKeyOf(pod: FailedPod, watches: Pick<Lister<TrafficWatch>, 'get'>): string | undefined {
  const { deployment } = pod;
  return deployment !== undefined && watches.get(deployment) !== undefined ? deployment : undefined;
}
