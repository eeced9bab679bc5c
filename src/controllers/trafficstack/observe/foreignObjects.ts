import { BodyBudget, createBoundedInformer, dropBody, SMALL_PAGE } from '../../../runtime/cache/bodyBudget.ts';
import { shareOfHeap } from '../../../runtime/cache/fairShare.ts';
import { type Informer, withoutManagedFields } from '../../../runtime/cache/informer.ts';
import { InformerPool, type PooledSelection, type WatchRequest } from '../../../runtime/cache/informerPool.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { keyOf, resourceName, type KubeObject, type Resource } from '../../../runtime/client/resource.ts';
import type { PacedQueue } from '../../../runtime/controller/workqueue.ts';
import { idOf, type Member } from '../../../runtime/objectSet/objectSet.ts';
import { readLive } from '../../../runtime/objectSet/observe.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { ControllerContext } from '../../contract/context.ts';
import { RecentCalls } from './recentCalls.ts';

/** Seconds until a watch is renewed at the earliest, which is a request. Watches last up to twice as long: 500 of them are a request in 5 s. */
const LEAST_WATCH_S = 1_800;
/** Part of the heap for a list without a watch. */
const PART_OF_HEAP = 1 / 16;
/** ms: the period of the check whether the replica still leads. */
const TICK_MS = 1_000;

/** A search by content. */
export interface Sought {
  readonly resource: Resource;
  readonly labelSelector?: string | undefined;
  /** Returns whether a change of an object matters to the stack. */
  readonly concerns: (live: KubeObject) => boolean;
  /** Returns false for objects that never match: only their names are kept. All searches of the same objects must pass the same function. */
  readonly mayConcern?: ((live: KubeObject) => boolean) | undefined;
}

interface ForeignObjectsOptions {
  readonly client: Pick<Client, 'get' | 'list'>;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly isLeader: () => boolean;
  readonly create: (selection: PooledSelection) => Informer<KubeObject>;
  /** Receives the stacks whose objects have changed. Paced, because every user may create matching objects. */
  readonly changed: PacedQueue;
}

/**
 * Reads objects of other owners. They have no label of a stack, so no other cache has them. One watch for all stacks follows each object while a
 * stack reads it.
 *
 * | the watch                                  | an object is                                            |
 * |--------------------------------------------|---------------------------------------------------------|
 * | is current                                 | what the cache has                                      |
 * | has just begun, is refused, or not answered | read from the API server, at most once in 5 s          |
 */
export class ForeignObjects {
  readonly #o: ForeignObjectsOptions;
  readonly #pool: InformerPool;
  /** Objects by kind, namespace and name. */
  readonly #reads: RecentCalls<KubeObject | undefined>;
  /** Lists by resource and selector. */
  readonly #lists: RecentCalls<readonly KubeObject[]>;

  constructor(options: ForeignObjectsOptions) {
    this.#o = options;
    const { create, changed } = options;
    this.#pool = new InformerPool({ create, onChange: (stack) => changed.add(stack) });
    this.#reads = new RecentCalls(options.clock);
    this.#lists = new RecentCalls(options.clock);
  }

  /** The number of watches. */
  get watches(): number {
    return this.#pool.size;
  }

  /** Returns the reader for one reconcile of a stack. */
  readerFor(stack: string): ForeignReader {
    const { client } = this.#o;
    return new ForeignReader({ stack, client, pool: this.#pool, reads: this.#reads, lists: this.#lists });
  }

  /** Ends the watches of a stack. */
  forget(stack: string): void {
    this.#pool.watch(stack, []);
  }

  /** Ends the watches when this replica stops leading, and when `stop` is aborted. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const { isLeader, clock } = this.#o;
    while (!stop.aborted) {
      if (!isLeader()) this.#pool.clear();
      await clock.sleep(TICK_MS, stop);
    }
    await this.#pool.close();
  }
}

interface ForeignReaderOptions extends Pick<ForeignObjectsOptions, 'client'> {
  readonly stack: string;
  readonly pool: InformerPool;
  readonly reads: RecentCalls<KubeObject | undefined>;
  readonly lists: RecentCalls<readonly KubeObject[]>;
}

/** Reads foreign objects for one reconcile. When it ends, the stack watches exactly the objects that were read. */
export class ForeignReader {
  readonly #o: ForeignReaderOptions;
  readonly #requests: WatchRequest[] = [];

  constructor(options: ForeignReaderOptions) {
    this.#o = options;
  }

  /**
   * Returns the object of this name; undefined if there is none.
   *
   * @throws ApiError, TransportError
   */
  read(member: Member): Promise<KubeObject | undefined> {
    const cache = this.#request({ selection: selectionOf(member) });
    if (cache !== undefined) return Promise.resolve(cache.get(keyOf(member.object)));
    return this.#o.reads.call(idOf(member), () => readLive(this.#o.client, member));
  }

  /**
   * Reads an object that is about to be created. A late cache cannot prove that it does not exist.
   *
   * @throws ApiError, TransportError
   */
  async find(member: Member): Promise<KubeObject | undefined> {
    const selection = selectionOf(member);
    const cached = this.#o.pool.current(selection)?.get(keyOf(member.object));
    const live = cached ?? (await readLive(this.#o.client, member));
    // A missing object will be created by the stack, and is then in another cache.
    if (live !== undefined) this.#request({ selection });
    return live;
  }

  /**
   * Returns all objects of a kind, or those that a selector matches. If the objects of a namespace take too much memory, only names of the last ones
   * are kept.
   *
   * @throws ApiError, TransportError
   */
  list({ resource, labelSelector, concerns, mayConcern }: Sought): Promise<readonly KubeObject[]> {
    const selection = { resource, labelSelector, transform: trimSought(mayConcern) };
    const cache = this.#request({ selection, concerns });
    if (cache !== undefined) return Promise.resolve(cache.list());
    return this.#o.lists.call(`${resourceName(resource)} ${labelSelector}`, () => {
      const budget = new BodyBudget();
      const share = shareOfHeap(PART_OF_HEAP);
      const transform = (object: KubeObject): KubeObject => {
        const whole = selection.transform(object);
        return budget.keep(whole, nameOf, { room: { share, drop: () => dropBody(whole, nameOf) } });
      };
      return this.#o.client.list(resource, {
        ...(labelSelector && { labelSelector }),
        pageSize: SMALL_PAGE,
        transform,
      });
    });
  }

  /** Ends the reads: from now on, changes of these objects enqueue the stack. */
  end(): void {
    this.#o.pool.watch(this.#o.stack, this.#requests);
  }

  /** True if a watch is not current, so that a change causes no event. */
  get hasStaleWatch(): boolean {
    return this.#requests.some(({ selection }) => this.#o.pool.current(selection) === undefined);
  }

  #request(request: WatchRequest): Informer<KubeObject>['lister'] | undefined {
    this.#requests.push(request);
    return this.#o.pool.current(request.selection);
  }
}

function selectionOf({ resource, object }: Member): PooledSelection {
  const { namespace, name = '' } = object.metadata ?? {};
  return { resource, namespace, fieldSelector: `metadata.name=${name}`, transform: trimForeign };
}

/** Connects foreign objects with the API server. @param changed receives the stacks whose objects have changed */
export function createForeignObjects(
  { client, transport, logger, metrics, clock, isLeader }: ControllerContext,
  changed: PacedQueue,
): ForeignObjects {
  // The cache of all stacks reports the number of cached objects of a kind.
  const reflector = { ...metrics.reflector, objects: () => undefined };
  return new ForeignObjects({
    ...{ client, clock, isLeader, changed },
    create: (selection) =>
      createBoundedInformer(
        { ...selection, transport, logger, metrics: reflector, leastWatchSeconds: LEAST_WATCH_S },
        nameOf,
      ),
  });
}

/** Annotation of `kubectl apply`: as large as the object itself. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Content that no component reads. */
interface Content {
  data?: unknown;
  binaryData?: unknown;
}

/** Drops fields that no component reads. Expressions may read any other field, and managed fields show the owner. */
function trimForeign(object: KubeObject & Content): KubeObject {
  delete object.metadata?.annotations?.[LAST_APPLIED];
  delete object.data;
  delete object.binaryData;
  return object;
}

/** Returns the transform of a search, which keeps only the names of objects that never match. */
function trimSought(mayConcern: (live: KubeObject) => boolean = () => true) {
  return (object: KubeObject): KubeObject =>
    mayConcern(object) ? withoutManagedFields(trimForeign(object)) : nameOf(object);
}

/** Returns the name of an object: the rest is not needed, or exceeds the budget of its namespace (see createBoundedInformer). */
function nameOf({ apiVersion = '', kind = '', metadata = {} }: KubeObject): KubeObject {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { ...(namespace !== undefined && { namespace }), name, uid, resourceVersion },
  };
}
