import { systemClock, type Clock } from '../process/clock.ts';
import { keyOf, type KubeObject } from '../client/resource.ts';
import { isWithoutBody } from './bodyBudget.ts';
import type { Informer } from './informer.ts';
import type { InformerEvent, Lister } from './store.ts';

/**
 * Longest time for which a written object replaces the cached one, milliseconds. A watch normally delivers a write
 * within a second. A cache that is stale for longer may have missed a deletion, so read the cache again.
 */
export const OVERLAID_FOR_MS = 30_000;

/** The cache below an overlay: an informer, or its parts. */
export interface OverlaidCache<T extends KubeObject> extends Pick<Informer<T>, 'subscribe'> {
  readonly lister: Lister<T>;
}

export interface OverlayOptions {
  readonly clock?: Pick<Clock, 'monotonic'> | undefined;
  /**
   * Set it for a kind whose objects this process creates. Then the overlay returns a written object that the cache
   * lacks, because the cache may not have seen the creation yet. Without it, the overlay assumes that such an object
   * was deleted before the response to the write arrived.
   */
  readonly includeCreated?: boolean | undefined;
}

/**
 * Read-your-writes for an informer's cache. A reconcile right after a write must not use the object from before the
 * write. `get` and `list` therefore return the API server's response until the cache has the same or a newer version,
 * the object is deleted, or 30 s have passed. It works like client-go's MutationCache
 * (https://pkg.go.dev/k8s.io/client-go/tools/cache#MutationCache), and never waits for the cache.
 *
 * It compares resource versions as numbers. Kubernetes guarantees this since 1.35
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions); with etcd it was always true.
 */
export interface Overlay<T extends KubeObject> extends Lister<T> {
  /**
   * Returns the cache's own list if nothing is overlaid; otherwise the same array until the cache or a write changes
   * it.
   */
  list(): readonly T[];
  /** Searches the index of the cache, and returns the newest state of the found objects. */
  byIndex(index: string, value: string): readonly T[];
  /** Records the API server's response to a write. */
  wrote(object: T): void;
  /** Returns the newer of this object and the written one. If this object is as new as the write, ends the overlay. */
  newest(object: T): T;
}

/** Creates an overlay for an informer's cache. It subscribes to the informer to detect deletions. */
export function createOverlay<T extends KubeObject>(cache: OverlaidCache<T>, options: OverlayOptions = {}): Overlay<T> {
  const overlay = new CacheOverlay(cache.lister, options);
  cache.subscribe((event) => overlay.saw(event));
  return overlay;
}

interface Held<T> {
  readonly object: T;
  /** Time of the write, monotonic milliseconds. */
  readonly since: number;
}

class CacheOverlay<T extends KubeObject> implements Overlay<T> {
  readonly #lister: Lister<T>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #includeCreated: boolean;
  /** By key, the oldest write first. */
  readonly #written = new Map<string, Held<T>>();
  /** The last result of `list`, shared by all callers: copying 10,000 nodes for each of 50 TrafficWatches is slow. */
  #listed: { readonly cached: readonly T[]; readonly newest: readonly T[] } | undefined;

  constructor(lister: Lister<T>, { clock = systemClock, includeCreated = false }: OverlayOptions) {
    this.#lister = lister;
    this.#clock = clock;
    this.#includeCreated = includeCreated;
  }

  get(key: string): T | undefined {
    const cached = this.#lister.get(key);
    if (cached !== undefined) return this.newest(cached);
    this.#expire();
    return this.#includeCreated ? this.#written.get(key)?.object : undefined;
  }

  list(): readonly T[] {
    this.#expire();
    const cached = this.#lister.list();
    if (this.#written.size === 0) return cached;
    if (this.#listed?.cached === cached) return this.#listed.newest;
    const newest = this.#overlaid(cached);
    // #overlaid drops the writes that the cache has.
    if (this.#written.size === 0) return cached;
    this.#listed = { cached, newest };
    return newest;
  }

  byIndex(index: string, value: string): readonly T[] {
    const cached = this.#lister.byIndex(index, value);
    return this.#written.size === 0 ? cached : cached.map((object) => this.newest(object));
  }

  wrote(object: T): void {
    this.#expire();
    const key = keyOf(object);
    const held = this.#written.get(key)?.object;
    if (held && versionOf(object) <= versionOf(held)) return;
    const cached = this.#lister.get(key);
    if (isWithoutBody(cached) || (!this.#includeCreated && cached === undefined)) return;
    this.#release(key);
    this.#written.set(key, { object, since: this.#clock.monotonic() });
  }

  newest(object: T): T {
    this.#expire();
    return this.#newest(object);
  }

  /**
   * Ends the overlay of a deleted object. After a relist, the delete event has the last cached state, which may be
   * older than the write. The uid then identifies the object.
   */
  saw({ type, object }: InformerEvent<T>): void {
    if (type !== 'delete') return;
    const key = keyOf(object);
    const held = this.#written.get(key)?.object;
    if (held && (isSameObject(held, object) || versionOf(held) <= versionOf(object))) this.#release(key);
  }

  #newest(object: T): T {
    const key = keyOf(object);
    const held = this.#written.get(key)?.object;
    if (held === undefined) return object;
    // A written object has its body: it would not be bounded, and its state would change back a moment later.
    if (!isWithoutBody(object) && versionOf(object) < versionOf(held)) return held;
    this.#release(key);
    return object;
  }

  #overlaid(cached: readonly T[]): readonly T[] {
    const newest = cached.map((object) => this.#newest(object));
    if (!this.#includeCreated) return newest;
    const created = [...this.#written].filter(([key]) => this.#lister.get(key) === undefined);
    return [...newest, ...created.map(([, { object }]) => object)];
  }

  #release(key: string): void {
    this.#written.delete(key);
    this.#listed = undefined;
  }

  #expire(): void {
    const now = this.#clock.monotonic();
    for (const [key, { since }] of this.#written) {
      if (now - since < OVERLAID_FOR_MS) return;
      this.#release(key);
    }
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
