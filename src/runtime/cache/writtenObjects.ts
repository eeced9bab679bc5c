import { systemClock, type Clock } from '../process/clock.ts';
import { keyOf, type KubeObject } from '../client/resource.ts';

/**
 * How long a cache that has not caught up with a write is taken to be behind it: ms. A watch tells within a second; one
 * that takes longer than this has missed something, such as a deletion while it was broken, and the cache is to be
 * believed again.
 */
export const BELIEVED_FOR_MS = 30_000;

interface Held<T> {
  readonly object: T;
  /** Monotonic ms. */
  readonly since: number;
}

/**
 * Read-your-writes over an informer's cache: a reconcile that follows right behind a write must not decide from the
 * object as it was before. Holds what the API server answered until the cache has caught up with it.
 *
 * Resource versions are compared as numbers, which Kubernetes guarantees since 1.35
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions); etcd-backed servers always had them so.
 */
export class WrittenObjects<T extends KubeObject> {
  readonly #written = new Map<string, Held<T>>();
  readonly #clock: Pick<Clock, 'monotonic'>;

  constructor(clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.#clock = clock;
  }

  /** Whether nothing is held, so that every cached object is the latest. */
  get isEmpty(): boolean {
    return this.#written.size === 0;
  }

  /** Keeps the API server's answer to a write. */
  wrote(object: T): void {
    const key = keyOf(object);
    const held = this.#held(key);
    if (held && versionOf(object) <= versionOf(held)) return;
    this.#written.set(key, { object, since: this.#clock.monotonic() });
  }

  /** The newer of what the cache has and what was written, the latter for at most `BELIEVED_FOR_MS`. */
  latest(key: string, cached: T | undefined): T | undefined {
    const held = this.#held(key);
    // A cache that has nothing yet is behind a creation; `deleted` tells when it is ahead of us instead.
    if (held && (!cached || versionOf(cached) < versionOf(held))) return held;
    this.#written.delete(key);
    return cached;
  }

  /**
   * To be called for every delete event of the informer: what was written is gone. An object that a relist finds absent
   * is told as the cache last had it, older than our write, so its uid says as much as its version.
   */
  deleted(object: T): void {
    const key = keyOf(object);
    const held = this.#held(key);
    if (held && (isSameObject(held, object) || versionOf(held) <= versionOf(object))) this.#written.delete(key);
  }

  #held(key: string): T | undefined {
    const held = this.#written.get(key);
    return held && this.#clock.monotonic() - held.since < BELIEVED_FOR_MS ? held.object : undefined;
  }
}

function isSameObject(one: KubeObject, other: KubeObject): boolean {
  const uid = one.metadata?.uid;
  return uid !== undefined && uid === other.metadata?.uid;
}

function versionOf(object: KubeObject): bigint {
  const version = object.metadata?.resourceVersion ?? '';
  return /^\d+$/.test(version) ? BigInt(version) : 0n;
}
