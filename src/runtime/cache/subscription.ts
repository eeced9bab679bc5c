import type { Clock, Timer } from '../process/clock.ts';
import { Backoff } from './reflector/backoff.ts';
import { keyOf, type KubeObject } from '../client/resource.ts';
import type { InformerEvent } from './store.ts';

/** Dependencies of a subscription. */
interface SubscriptionOptions<T extends KubeObject> {
  listener: (event: InformerEvent<T>) => void;
  /** Called with the error that the listener threw. */
  onFailure: (error: unknown, event: InformerEvent<T>) => void;
  clock: Clock;
}

/** Maximum deliveries of a deletion, about a minute. Otherwise a deletion that always fails would never end. */
const DELETION_TRIES = 7;

/** An event whose listener threw, and the number of its deliveries. */
interface Missed<T> {
  event: InformerEvent<T>;
  tries: number;
}

/**
 * One listener of an informer. An event whose listener threw is delivered again, with a backoff from 1 s to 30 s, until
 * it succeeds. (client-go skips such an event and relies on its resync; this informer has no resync.) A new event of
 * the same object is delivered at once, as one change from the last object that was delivered successfully. At most one
 * event per object is kept, so that the kept events are no more than the cached objects, plus deletions for a limited
 * time.
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

  /** Ends the delivery. */
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

/** Merges two changes of one object, for a listener that threw at the first. */
function joined<T>(missed: InformerEvent<T>, next: InformerEvent<T>): InformerEvent<T> {
  if (next.type === 'delete') return next;
  const { object } = next;
  return missed.type === 'update' ? { ...missed, object } : { type: 'add', object };
}
