import { createBoundedInformer } from '../../../../runtime/cache/bodyBudget.ts';
import type { Informer, InformerOptions } from '../../../../runtime/cache/informer.ts';
import { PODS } from '../../../../runtime/client/resources.ts';
import { whenAborted } from '../../../../runtime/async/deadline.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import type { WaitingPodsRead, WaitingPod } from '../observation.ts';
import type { V1Pod, V1PodCondition } from '@kubernetes/client-node';
import type { IndexFunctions } from '../../../../runtime/cache/store.ts';
import type { KubeObject } from '../../../../runtime/client/resource.ts';
import { requiredKeys } from '../../model/affinity.ts';
import { BY_NAMESPACE } from '../../names.ts';

/**
 * How long pods are watched after the last question for them: ms. Every pass asks while nodes are unfit. A node that
 * turns fit and unfit again within this time costs no new list.
 */
const KEPT_MS = 5 * 60_000;

/**
 * The informer of pods without a node, in all namespaces. The API server selects them, so that pods that run use no
 * memory here; it finds them by its index of spec.nodeName. Not a watch of metadata, since what the scheduler says is in
 * the status and the terms are in the spec; `trimWaitingPod` keeps as little of them. Labels may be large: the pods of a namespace share 8 MiB.
 */
export function createWaitingPodInformer({
  metrics,
  ...options
}: Pick<InformerOptions<CachedWaitingPod>, 'transport' | 'logger' | 'metrics'>): Informer<CachedWaitingPod> {
  const selection = {
    ...options,
    // The metric of cached pods counts only the informers that always run.
    metrics: metrics && { ...metrics, objects: () => undefined },
    resource: PODS,
    fieldSelector: 'status.phase=Pending,spec.nodeName=',
    transform: trimWaitingPod,
    indexes: waitingPodIndexes,
  };
  return createBoundedInformer<CachedWaitingPod>(selection, identityOfWaitingPod);
}

/** The pods that wait for a node. Watches them only while there are questions for them. */
export class WaitingPods {
  readonly #create: () => Informer<CachedWaitingPod>;
  readonly #clock: Clock;
  #informer: Informer<CachedWaitingPod> | undefined;
  /** Aborted by the first question after a pause. */
  #asked = new AbortController();
  /** Monotonic time of the last question, ms. */
  #askedAt = -Infinity;

  constructor(o: { create: () => Informer<CachedWaitingPod>; clock: Clock }) {
    this.#create = o.create;
    this.#clock = o.clock;
  }

  /** The pods of a namespace that found no node. The first question starts the watch; a later one gets the pods. */
  podsIn(namespace: string): WaitingPodsRead {
    this.#askedAt = this.#clock.monotonic();
    this.#asked.abort();
    const informer = this.#informer;
    if (informer?.refusal !== undefined) return { refusal: informer.refusal.detail };
    if (informer?.synced !== true) return {};
    const found = informer.lister.byIndex(BY_NAMESPACE, namespace);
    const pods = found.flatMap(({ waiting }) => waiting ?? []);
    return pods.length === found.length ? { pods } : { pods, isPartial: true };
  }

  /** Watches while there are questions, until `stop` is aborted. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    while (await this.#isAsked(stop)) await this.#watch(stop);
  }

  /** Waits for a question. False if the program stops. */
  async #isAsked(stop: AbortSignal): Promise<boolean> {
    await whenAborted(AbortSignal.any([stop, this.#asked.signal]));
    return !stop.aborted;
  }

  async #watch(stop: AbortSignal): Promise<void> {
    const over = new AbortController();
    const informer = this.#create();
    this.#informer = informer;
    const running = informer.run(AbortSignal.any([stop, over.signal]));
    const left = (): number => this.#askedAt + KEPT_MS - this.#clock.monotonic();
    while (!stop.aborted && left() > 0) await this.#clock.sleep(left(), stop);
    this.#informer = undefined;
    this.#asked = new AbortController();
    over.abort();
    await running;
  }
}

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
