import { createBoundedInformer } from '../../../../runtime/cache/bodyBudget.ts';
import type { Informer, InformerOptions } from '../../../../runtime/cache/informer.ts';
import { PODS } from '../../../../runtime/client/resources.ts';
import { whenAborted } from '../../../../runtime/process/abort.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import type { WaitingPodsRead } from '../observation.ts';
import {
  BY_NAMESPACE,
  identityOfWaitingPod,
  trimWaitingPod,
  waitingPodIndexes,
  type CachedWaitingPod,
} from './waitingPod.ts';

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
