import { systemClock, type Clock } from '../process/clock.ts';
import { keyOf, type KubeObject } from '../client/resource.ts';
import type { Informer } from './informer.ts';
import type { InformerEvent, Lister } from './store.ts';

/**
 * How long a written object stands over a cache that has not caught up with it: ms. A watch delivers a write within a
 * second. One that takes longer has missed something, such as a deletion while it was broken: read the cache again.
 */
export const OVERLAID_FOR_MS = 30_000;

/** What an overlay lies on: an informer, or the parts of one. */
export interface OverlaidCache<T extends KubeObject> extends Pick<Informer<T>, 'subscribe'> {
  readonly lister: Lister<T>;
}

export interface OverlayOptions {
  readonly clock?: Pick<Clock, 'monotonic'> | undefined;
  /**
   * Set it for a kind whose objects this process creates: an object that was written and that the cache lacks is then
   * returned, since the cache may not have seen the creation yet. Without it, such an object was deleted before the
   * answer to the write came.
   */
  readonly includeCreated?: boolean | undefined;
}

/**
 * Read-your-writes over an informer's cache. A reconcile that follows right behind a write must not decide from the
 * object as it was before: `get` and `list` return the API server's answer until the cache has caught up with it, the
 * object is deleted, or 30 s have passed. As client-go's MutationCache
 * (https://pkg.go.dev/k8s.io/client-go/tools/cache#MutationCache), and never waits for the cache.
 *
 * Resource versions are compared as numbers, which Kubernetes guarantees since 1.35
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions); etcd-backed servers always had them so.
 */
export interface Overlay<T extends KubeObject> extends Lister<T> {
  /** While nothing is overlaid, the cache's own list; otherwise the same list until either changes. */
  list(): readonly T[];
  /** Finds by the values that the cache has, and returns the newest objects. */
  byIndex(index: string, value: string): readonly T[];
  /** Keeps the API server's answer to a write. */
  wrote(object: T): void;
  /** The newer of this state of an object and the one that was written. A state as new as the write ends the overlay. */
  newest(object: T): T;
}

/** Lays an overlay on an informer's cache. It subscribes to the informer for deletions. */
export function createOverlay<T extends KubeObject>(cache: OverlaidCache<T>, options: OverlayOptions = {}): Overlay<T> {
  const overlay = new CacheOverlay(cache.lister, options);
  cache.subscribe((event) => overlay.saw(event));
  return overlay;
}

interface Held<T> {
  readonly object: T;
  /** Monotonic ms. */
  readonly since: number;
}

class CacheOverlay<T extends KubeObject> implements Overlay<T> {
  readonly #lister: Lister<T>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #includeCreated: boolean;
  /** By key, the oldest write first. */
  readonly #written = new Map<string, Held<T>>();
  /** Shared by all who list: ten thousand nodes are copied once, and not for each of fifty TrafficWatches. */
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
    // The cache may have caught up with all of it.
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
    if (!this.#includeCreated && this.#lister.get(key) === undefined) return;
    this.#release(key);
    this.#written.set(key, { object, since: this.#clock.monotonic() });
  }

  newest(object: T): T {
    this.#expire();
    return this.#newest(object);
  }

  /**
   * A deletion ends the overlay. An object that a relist finds absent is reported as the cache last had it, older than
   * our write: its uid tells that it is the same object.
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
    if (versionOf(object) < versionOf(held)) return held;
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
