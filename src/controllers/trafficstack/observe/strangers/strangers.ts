import { BodyBudget, createBoundedInformer, dropBody, SMALL_PAGE } from '../../../../runtime/cache/bodyBudget.ts';
import { shareOfHeap } from '../../../../runtime/cache/fairShare.ts';
import type { Informer } from '../../../../runtime/cache/informer.ts';
import { InformerPool, type PooledSelection, type Wish } from '../../../../runtime/cache/informerPool.ts';
import type { Client } from '../../../../runtime/client/client.ts';
import { keyOf, resourceName, type KubeObject, type Resource } from '../../../../runtime/client/resource.ts';
import { idOf, type Member } from '../../../../runtime/objectSet/objectSet.ts';
import { readLive } from '../../../../runtime/objectSet/observe.ts';
import type { PacedQueue } from '../../../../runtime/controller/workqueue.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import type { ControllerContext } from '../../../contract/context.ts';
import { RecentCalls } from '../recentCalls.ts';
import { nameOf, trimSought, trimStranger } from './trim.ts';

/**
 * Each watch is renewed when it ends, which is a request. There may be hundreds of them, so they last for half an hour to an hour: 500 are a
 * request in 5 s.
 */
const LEAST_WATCH_S = 1_800;
/** Part of the heap that a list without a watch may take. */
const PART_OF_HEAP = 1 / 16;
/** How soon the watches of a replica that does not lead any more end: ms. */
const TICK_MS = 1_000;

/** Objects that are found by what they are. */
export interface Sought {
  readonly resource: Resource;
  readonly labelSelector?: string | undefined;
  /** Whether a change of an object matters to who looks for it. */
  readonly concerns: (live: KubeObject) => boolean;
  /** False: the object concerns nobody, and only its name is kept. The same for all who look for these objects. */
  readonly mayConcern?: ((live: KubeObject) => boolean) | undefined;
}

export interface StrangersOptions {
  readonly client: Pick<Client, 'get' | 'list'>;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly isLeader: () => boolean;
  readonly create: (selection: PooledSelection) => Informer<KubeObject>;
  /** Gets each stack that has looked at an object that has changed. Paced, since every user may make objects that look like the ones sought. */
  readonly changed: PacedQueue;
}

/**
 * Objects that may be somebody else's. They have no label of a stack, so they are in no other cache: each is watched for as long as a stack
 * looks at it, by one watch for all stacks.
 *
 * | the watch                                  | an object is                                            |
 * |--------------------------------------------|---------------------------------------------------------|
 * | is current                                 | what the cache has                                      |
 * | has just begun, is refused, or not answered | read from the API server, at most once in 5 s          |
 */
export class Strangers {
  readonly #o: StrangersOptions;
  readonly #pool: InformerPool;
  /** By kind, namespace and name. */
  readonly #reads: RecentCalls<KubeObject | undefined>;
  /** By resource and selector. */
  readonly #lists: RecentCalls<readonly KubeObject[]>;

  constructor(options: StrangersOptions) {
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

  /** A look at them, for one reconcile of a stack. */
  look(stack: string): Look {
    const { client } = this.#o;
    return new Look({ stack, client, pool: this.#pool, reads: this.#reads, lists: this.#lists });
  }

  /** The stack looks at nothing any more. */
  forget(stack: string): void {
    this.#pool.hold(stack, []);
  }

  /** Ends the watches when this replica does not lead any more, and when `stop` is aborted. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const { isLeader, clock } = this.#o;
    while (!stop.aborted) {
      if (!isLeader()) this.#pool.clear();
      await clock.sleep(TICK_MS, stop);
    }
    await this.#pool.close();
  }
}

interface LookOptions extends Pick<StrangersOptions, 'client'> {
  readonly stack: string;
  readonly pool: InformerPool;
  readonly reads: RecentCalls<KubeObject | undefined>;
  readonly lists: RecentCalls<readonly KubeObject[]>;
}

/** What one reconcile sees of them. What it has looked at is watched from its end on, and nothing else. */
export class Look {
  readonly #o: LookOptions;
  readonly #wishes: Wish[] = [];

  constructor(options: LookOptions) {
    this.#o = options;
  }

  /**
   * The object of this name; undefined if there is none.
   *
   * @throws ApiError, TransportError
   */
  read(member: Member): Promise<KubeObject | undefined> {
    const cache = this.#want({ selection: selectionOf(member) });
    if (cache !== undefined) return Promise.resolve(cache.get(keyOf(member.object)));
    return this.#o.reads.call(idOf(member), () => readLive(this.#o.client, member));
  }

  /**
   * The same for one that is about to be created: that there is none is never told from a cache, which may be late.
   *
   * @throws ApiError, TransportError
   */
  async find(member: Member): Promise<KubeObject | undefined> {
    const selection = selectionOf(member);
    const cached = this.#o.pool.current(selection)?.get(keyOf(member.object));
    const live = cached ?? (await readLive(this.#o.client, member));
    // One that does not exist is about to be of the stack, and in another cache.
    if (live !== undefined) this.#want({ selection });
    return live;
  }

  /**
   * All objects of a kind in all namespaces, or those with the labels of a selector. Of a namespace whose objects take too much memory, only
   * the names of the last ones.
   *
   * @throws ApiError, TransportError
   */
  list({ resource, labelSelector, concerns, mayConcern }: Sought): Promise<readonly KubeObject[]> {
    const selection = { resource, labelSelector, transform: trimSought(mayConcern) };
    const cache = this.#want({ selection, concerns });
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

  /** Ends the look: from now on, the stack is told of changes of what it has looked at. */
  end(): void {
    this.#o.pool.hold(this.#o.stack, this.#wishes);
  }

  /** Whether the watch of something that it has looked at is not current, so that a change is no event. */
  get isBlind(): boolean {
    return this.#wishes.some(({ selection }) => this.#o.pool.current(selection) === undefined);
  }

  #want(wish: Wish): Informer<KubeObject>['lister'] | undefined {
    this.#wishes.push(wish);
    return this.#o.pool.current(wish.selection);
  }
}

function selectionOf({ resource, object }: Member): PooledSelection {
  const { namespace, name = '' } = object.metadata ?? {};
  return { resource, namespace, fieldSelector: `metadata.name=${name}`, transform: trimStranger };
}

/** @param changed gets each stack that has looked at an object that has changed */
export function createStrangers(
  { client, transport, logger, metrics, clock, isLeader }: ControllerContext,
  changed: PacedQueue,
): Strangers {
  // The number of cached objects of a kind is that of the cache of all stacks.
  const reflector = { ...metrics.reflector, objects: () => undefined };
  return new Strangers({
    ...{ client, clock, isLeader, changed },
    create: (selection) =>
      createBoundedInformer(
        { ...selection, transport, logger, metrics: reflector, leastWatchSeconds: LEAST_WATCH_S },
        nameOf,
      ),
  });
}
