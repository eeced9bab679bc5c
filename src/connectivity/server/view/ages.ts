import type { Informer } from '../../../runtime/cache/informer.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { AgentPod } from '../pods/agentPod.ts';
import type { ClusterNode } from './clusterNode.ts';

/** An event of objects that has an age. */
interface Dated<T> {
  readonly key: (object: T) => string;
  /** Changes with each such event. */
  readonly mark: (object: T) => string;
  /** Time of the event, by the wall clock of the machine that wrote the object, ms. */
  readonly at: (object: T) => number;
}

interface Seen {
  readonly mark: string;
  /** Monotonic, ms. */
  readonly seenAt: number;
  /** Age of the event when it was seen, ms. */
  readonly ageMs: number;
}

/**
 * Ages of events that other machines have dated: API servers, and the kubelet of each node. Their clocks may be hours ahead
 * or behind, so this process counts from the moment when it saw the event.
 *
 * | event | its age when it was seen |
 * |---|---|
 * | happened while this process watched | 0 |
 * | was there before | by the two wall clocks; 0 if it is dated in the future |
 */
export class Ages<T extends KubeObject> {
  readonly #clock: Clock;
  readonly #dated: Dated<T>;
  readonly #seen = new Map<string, Seen>();

  constructor(clock: Clock, dated: Dated<T>, cache: Pick<Informer<T>, 'synced' | 'subscribe'>) {
    this.#clock = clock;
    this.#dated = dated;
    let isSubscribed = false;
    cache.subscribe(({ type, object }) => {
      if (type === 'delete') this.#seen.delete(dated.key(object));
      else this.#note(object, isSubscribed && (type === 'update' || cache.synced));
    });
    isSubscribed = true;
  }

  /** Returns the age of the last event of an object, ms, by a clock that does not jump. */
  of(object: T): number {
    const seen = this.#seen.get(this.#dated.key(object));
    return seen === undefined ? this.#statedAge(object) : seen.ageMs + this.#clock.monotonic() - seen.seenAt;
  }

  #note(object: T, isNew: boolean): void {
    const [key, mark] = [this.#dated.key(object), this.#dated.mark(object)];
    if (this.#seen.get(key)?.mark === mark) return;
    const ageMs = isNew ? 0 : this.#statedAge(object);
    this.#seen.set(key, { mark, ageMs, seenAt: this.#clock.monotonic() });
  }

  #statedAge(object: T): number {
    return Math.max(0, this.#clock.now() - this.#dated.at(object));
  }
}

/** A node was created, or its condition Ready became True: whichever is later. */
export const NODE_JOINED: Dated<ClusterNode> = {
  key: ({ name }) => name,
  mark: ({ createdAt, readySince }) => `${createdAt}/${readySince ?? ''}`,
  at: ({ createdAt, readySince = 0 }) => Math.max(createdAt, readySince),
};

/** A pod was created. */
export const POD_CREATED: Dated<AgentPod> = {
  key: keyOfPod,
  // A pod is created once.
  mark: () => '',
  at: ({ createdAt }) => createdAt,
};

/** The container of a pod started. */
export const POD_STARTED: Dated<AgentPod> = {
  key: keyOfPod,
  mark: ({ startedAt }) => `${startedAt}`,
  at: ({ startedAt }) => startedAt,
};

function keyOfPod({ metadata: { uid, namespace = '', name = '' } = {} }: AgentPod): string {
  return uid ?? `${namespace}/${name}`;
}
