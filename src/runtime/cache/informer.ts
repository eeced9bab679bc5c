import { systemClock, type Clock } from '../process/clock.ts';
import { type ApiError, isNotFound } from '../client/errors.ts';
import type { Logger } from '../process/logger.ts';
import { Reflector, type WatchMetrics } from './reflector.ts';
import { keyOf, resourceName, type KubeObject, type Resource } from '../client/resource.ts';
import { Store, type IndexFunctions, type InformerEvent, type Lister } from './store.ts';
import { Subscription } from './subscription.ts';
import type { Transport } from '../client/transport/types.ts';

export type { InformerEvent, Lister } from './store.ts';

/** A cache of one kind that a watch keeps current. */
export interface Informer<T extends KubeObject> {
  readonly resource: Resource<T>;
  /** True once all initial objects are in the cache and were delivered to the subscribers. */
  readonly synced: boolean;
  readonly lister: Lister<T>;
  /**
   * The rejection of the last list or watch, until one succeeds. While it is set, the cache is stale, or empty if it was
   * never filled. The `detail` of a 403 names verb and resource. A 404 means that the API server does not serve the
   * resource, for example because its CRD is not installed.
   */
  readonly refusal: ApiError | undefined;
  /** Resolves when synced or first rejected (403 or 404), or when `signal` is aborted. Never rejects. */
  whenSyncedOrRefused(signal?: AbortSignal): Promise<void>;
  /** Resolves when synced, or when `signal` is aborted. Never rejects. */
  whenSynced(signal?: AbortSignal): Promise<void>;
  /**
   * Calls `listener` for every change, after the cache has changed. It starts with an add for each cached object. If
   * the listener throws, the error is counted and logged, and the event is delivered again until it succeeds or the
   * object is deleted. Returns a function that ends the subscription.
   */
  subscribe(listener: (event: InformerEvent<T>) => void): () => void;
  /** Lists and watches until `signal` is aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/** Metrics of informers. */
export interface ReflectorMetrics extends WatchMetrics {
  /** A subscriber threw. */
  listenerFailed(resource: string): void;
  /** Number of cached objects. */
  objects(resource: string, count: number): void;
  /** A cache kept only the identity of an object: see createBoundedInformer. */
  bodyDropped(resource: string): void;
  /** The memory that bodies share, read at each scrape. @param budget whose bodies: 'namespaces', or a kind that has memory of its own */
  bodyMemory(budget: string, memory: { readonly usedRatio: number }): void;
}

export interface InformerOptions<T extends KubeObject> {
  transport: Transport;
  resource: Resource<T>;
  /** Default: all namespaces. */
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** Minimum duration of a watch until it is renewed, seconds; the maximum is twice this. Default: 300. */
  leastWatchSeconds?: number | undefined;
  /** Requests only metadata: objects then have apiVersion, kind and metadata, with the kind of the resource. */
  metadataOnly?: boolean | undefined;
  /** Objects per page of a list. Use less than the default of 500 for objects that users can make large. */
  pageSize?: number | undefined;
  /**
   * Drops unused parts of an object before it is stored. It may change its argument. The metadata's name, namespace and
   * resourceVersion must stay.
   */
  transform?: ((object: T) => T) | undefined;
  indexes?: IndexFunctions<T> | undefined;
  /** Called with `refusal` when it is set, changes, or ends. */
  onRefusal?: ((refusal: ApiError | undefined) => void) | undefined;
  /** Called when the cache has taken over a list. */
  onReplaced?: (() => void) | undefined;
  /** Called when `run` has ended: the cache is no longer current. */
  onEnded?: (() => void) | undefined;
  logger: Logger;
  metrics?: ReflectorMetrics | undefined;
  clock?: Clock | undefined;
}

/** Creates an informer. It sends no request before `run`. */
export function createInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  return new StoreInformer(options);
}

/** An informer that can give up parts of an object. */
export interface ReducibleInformer<T extends KubeObject> extends Informer<T> {
  /** Replaces a cached object by parts of it. Subscribers receive an update, with the same resourceVersion. */
  reduce(object: T): void;
}

/** Creates such an informer. It sends no request before `run`. */
export function createReducibleInformer<T extends KubeObject>(options: InformerOptions<T>): ReducibleInformer<T> {
  return new StoreInformer(options);
}

/** Returns whether the cache is filled and current: if its watch is refused, it may be stale. */
export function isKnown({ synced, refusal }: Pick<Informer<KubeObject>, 'synced' | 'refusal'>): boolean {
  return synced && refusal === undefined;
}

/** A transform that drops managedFields, which are often half of an object. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata !== undefined) delete object.metadata.managedFields;
  return object;
}

/** A transform that drops annotations, which users can make as large as the object: kubectl stores the whole object in one. */
export function withoutAnnotations<T extends KubeObject>(object: T): T {
  if (object.metadata !== undefined) delete object.metadata.annotations;
  return object;
}

class StoreInformer<T extends KubeObject> implements ReducibleInformer<T> {
  readonly #options: InformerOptions<T>;
  readonly #name: string;
  readonly #store: Store<T>;
  readonly #reflector: Reflector<T>;
  #subscriptions: readonly Subscription<T>[] = [];
  #synced = false;
  #refusal: ApiError | undefined;
  /** Callers that wait until `isOver`. */
  #waiting: { isOver: () => boolean; done: () => void }[] = [];

  constructor(options: InformerOptions<T>) {
    const { transport, resource, transform, indexes, onRefusal, onReplaced, ...rest } = options;
    const { onEnded: _, logger, metrics, clock, ...selection } = rest;
    this.#options = options;
    this.#name = resourceName(resource);
    this.#store = new Store(indexes);
    const target = {
      replace: (objects: readonly T[]) => {
        this.#replace(objects);
        onReplaced?.();
      },
      set: (object: T) => this.#tell([this.#store.set(object)]),
      delete: (object: T) => this.#tell([this.#store.delete(object)]),
      refused: (refusal: ApiError | undefined) => {
        if (refusal?.detail === this.#refusal?.detail) return;
        this.#refusal = refusal;
        this.#release();
        onRefusal?.(refusal);
      },
    };
    this.#reflector = new Reflector({
      transport,
      selection: { resource, ...selection },
      target,
      transform,
      logger,
      metrics,
      clock: clock ?? systemClock,
    });
  }

  get resource(): Resource<T> {
    return this.#options.resource;
  }

  get synced(): boolean {
    return this.#synced;
  }

  get lister(): Lister<T> {
    return this.#store;
  }

  get refusal(): ApiError | undefined {
    return this.#refusal;
  }

  whenSynced(signal?: AbortSignal): Promise<void> {
    return this.#when(() => this.#synced, signal);
  }

  whenSyncedOrRefused(signal?: AbortSignal): Promise<void> {
    return this.#when(() => this.#synced || this.#refusal !== undefined, signal);
  }

  subscribe(listener: (event: InformerEvent<T>) => void): () => void {
    const onFailure = (error: unknown, event: InformerEvent<T>): void => this.#failed(error, event);
    const subscription = new Subscription({ listener, onFailure, clock: this.#options.clock ?? systemClock });
    this.#subscriptions = [...this.#subscriptions, subscription];
    for (const object of this.#store.list()) subscription.tell({ type: 'add', object });
    return () => {
      subscription.end();
      this.#subscriptions = this.#subscriptions.filter((other) => other !== subscription);
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#reflector.run(signal);
    for (const subscription of this.#subscriptions) subscription.end();
    this.#options.onEnded?.();
  }

  reduce(object: T): void {
    this.#tell([this.#store.set(object)]);
  }

  #when(isOver: () => boolean, signal?: AbortSignal): Promise<void> {
    if (isOver() || signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting = this.#waiting.filter((other) => other.done !== done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.push({ isOver, done });
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  #release(): void {
    for (const { isOver, done } of this.#waiting) if (isOver()) done();
  }

  #replace(objects: readonly T[]): void {
    this.#tell(this.#store.replace(objects));
    this.#synced = true;
    this.#release();
  }

  #tell(events: readonly (InformerEvent<T> | undefined)[]): void {
    this.#options.metrics?.objects(this.#name, this.#store.size);
    for (const event of events) {
      if (event === undefined) continue;
      for (const subscription of this.#subscriptions) subscription.tell(event);
    }
  }

  #failed(error: unknown, { type, object }: InformerEvent<T>): void {
    const { metrics, logger } = this.#options;
    metrics?.listenerFailed(this.#name);
    logger.error({ err: error, resource: this.#name, key: keyOf(object), change: type }, 'subscriber failed');
  }
}

interface MissingCrdOptions {
  readonly resource: Resource;
  readonly logger: Logger;
  /** The program that waits for the CRD: 'the operator'. */
  readonly waiting: string;
  /** How to install the CRD, for the log message. */
  readonly advice: string;
}

/**
 * Returns a function for `onRefusal` of an informer: logs once when the API server does not serve the resource, and once when it does
 * again. The reflector tries again after 1 s, then after pauses that double up to 30 s.
 */
export function logMissingCrd({ resource, logger, waiting, advice }: MissingCrdOptions) {
  const crd = resourceName(resource);
  let wasMissing = false;
  return (refusal: ApiError | undefined): void => {
    const isMissing = isNotFound(refusal);
    if (isMissing === wasMissing) return;
    wasMissing = isMissing;
    if (isMissing) logger.error({ crd }, `the CRD is not installed, and ${waiting} waits for it: ${advice}`);
    else logger.info({ crd }, 'the CRD is installed');
  };
}
