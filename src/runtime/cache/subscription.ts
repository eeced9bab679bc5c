import type { Clock, Timer } from '../process/clock.ts';
import { Backoff } from './reflector/backoff.ts';
import { keyOf, type KubeObject } from '../client/resource.ts';
import type { InformerEvent } from './store.ts';

/** What a subscription works with. */
export interface SubscriptionOptions<T extends KubeObject> {
  listener: (event: InformerEvent<T>) => void;
  /** The listener threw this at an event. */
  onFailure: (error: unknown, event: InformerEvent<T>) => void;
  clock: Clock;
}

/** A deletion is told this often at most: about a minute. Nothing else would end one that is never taken. */
const DELETION_TRIES = 7;

/** An event that was not taken, and how often it was told. */
interface Missed<T> {
  event: InformerEvent<T>;
  tries: number;
}

/**
 * One listener of an informer. What it throws at it is told again, by itself, after pauses that double from 1 s to 30 s,
 * until it takes it: client-go skips such an event and has its resyncs make up for it, but here is no resync. What
 * happens to the object meanwhile is told at once, as one change from the last object that was taken. At most one event
 * is kept for an object, so that what is kept is no more than what is in the cache, and deletions for a while.
 */
export class Subscription<T extends KubeObject> {
  readonly #options: SubscriptionOptions<T>;
  readonly #backoff = new Backoff();
  readonly #missed = new Map<string, Missed<T>>();
  #timer: Timer | undefined;
  #ended = false;

  constructor(options: SubscriptionOptions<T>) {
    this.#options = options;
  }

  /** Never throws. */
  tell(event: InformerEvent<T>): void {
    const missed = this.#missed.get(keyOf(event.object));
    this.#try({ event: missed === undefined ? event : joined(missed.event, event), tries: 0 });
  }

  /** Tells nothing from now on. */
  end(): void {
    this.#ended = true;
    this.#timer?.cancel();
    this.#missed.clear();
  }

  #try({ event, tries }: Missed<T>): void {
    if (this.#ended) return;
    const key = keyOf(event.object);
    this.#missed.delete(key);
    try {
      this.#options.listener(event);
    } catch (error) {
      this.#options.onFailure(error, event);
      const isLast = event.type === 'delete' && tries + 1 >= DELETION_TRIES;
      if (!isLast) this.#missed.set(key, { event, tries: tries + 1 });
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#missed.size === 0) {
      this.#timer?.cancel();
      this.#timer = undefined;
      this.#backoff.reset();
    } else this.#timer ??= this.#options.clock.setTimeout(() => this.#tellAgain(), this.#backoff.next());
  }

  #tellAgain(): void {
    this.#timer = undefined;
    for (const missed of [...this.#missed.values()]) this.#try(missed);
  }
}

/** Two changes of one object as the one that a listener has to know of, which did not take the first. */
function joined<T>(missed: InformerEvent<T>, next: InformerEvent<T>): InformerEvent<T> {
  if (next.type === 'delete') return next;
  const { object } = next;
  return missed.type === 'update' ? { ...missed, object } : { type: 'add', object };
}
