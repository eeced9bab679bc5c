import { keyOf, resourceName, type KubeObject } from '../client/resource.ts';
import { heapBytesOf, shareOf, type FairShare, type Held } from './fairShare.ts';
import {
  createReducibleInformer,
  type Informer,
  type InformerEvent,
  type InformerOptions,
  type ReducibleInformer,
} from './informer.ts';

const WITHOUT_BODY = Symbol('without body');

/** Returns whether a cache dropped the body of an object: only its identity is left. Read the body from the API server. */
export function isWithoutBody(object: KubeObject | undefined): boolean {
  return object !== undefined && WITHOUT_BODY in object;
}

/** Returns whether a cache dropped the body of an object, or has it again: its resourceVersion and generation may be the same. */
export function bodyChanged(event: InformerEvent<KubeObject>): boolean {
  return event.type === 'update' && isWithoutBody(event.old) !== isWithoutBody(event.object);
}

/** Bytes of one namespace. Fifty components of a stack with files take less than one eighth, 200 TrafficWatches may have 40 KB each. */
const BYTES_PER_NAMESPACE = 8 * 1024 * 1024;
/** Objects of a page: API servers before 1.34 send lists, and each object may have 1.5 MiB. */
export const SMALL_PAGE = 20;

/** The limits of the bodies in a cache. */
export interface Bounds<T extends KubeObject> {
  /** A budget that several informers share; default: a separate budget. */
  readonly budget?: BodyBudget;
  /** The bytes of all groups of the budget together; default: what the caches of the process share. */
  readonly share?: FairShare;
  /** Returns the bytes that an object takes besides its text, such as in indexes. */
  readonly costOf?: (object: T) => number;
  /** Returns whether the body is kept in any case, and not counted: for a few objects that the operator depends on. */
  readonly isExempt?: (object: T) => boolean;
}

/**
 * Creates an informer of objects that users can make many and large: it reads small pages, and keeps bodies within the budget. It keeps
 * only the identity of an object that `transform` throws for, or that is nested too deeply to be counted (heapBytesOf), and logs its name.
 *
 * @param identity returns only parts of a bounded size. It must accept what `transform` makes of `identityOf` an object
 */
export function createBoundedInformer<T extends KubeObject>(
  options: Omit<InformerOptions<T>, 'pageSize' | 'onReplaced' | 'onEnded'>,
  identity: (object: T) => T,
  { budget = new BodyBudget(), share: ownShare, costOf, isExempt }: Bounds<T> = {},
): Informer<T> {
  const { transform = (object: T) => object, metrics, resource, logger } = options;
  const name = resourceName(resource);
  const share = ownShare ?? shareOf(options.transport);
  metrics?.bodyMemory(ownShare === undefined ? 'namespaces' : name, share);
  /** Counted by the budget, and not in the cache yet: a list that is cut off never brings them there. */
  const pending = new Map<string, T>();
  const reduced = (object: T): T => withoutBody(identity(object));
  const drop = (key: string): void => {
    metrics?.bodyDropped(name);
    const listed = pending.get(key);
    pending.delete(key);
    // The list that it belongs to may have thousands more.
    if (listed !== undefined) dropBody(listed, identity);
    const cached = informer.lister.get(key);
    if (cached !== undefined && !isWithoutBody(cached)) informer.reduce(reduced(cached));
  };
  const keep = (whole: T): T => {
    const key = keyOf(whole);
    return budget.keep(whole, identity, { cost: costOf?.(whole), room: { share, drop: () => drop(key) } });
  };
  const withoutContent = (object: T): T => {
    const empty = unread(object, transform);
    budget.release(empty);
    return reduced(empty);
  };
  const attempt = (object: T, work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      const fields = { err: error, resource: name, key: keyOf(object) };
      logger.error(fields, 'object cannot be read: its content has no effect');
      return undefined;
    }
  };
  const bounded = (object: T): T => {
    const whole = attempt(object, () => transform(object));
    if (whole !== undefined && isExempt?.(whole) === true) return whole;
    const kept = whole === undefined ? withoutContent(object) : (attempt(object, () => keep(whole)) ?? reduced(whole));
    if (isWithoutBody(kept)) metrics?.bodyDropped(name);
    else pending.set(keyOf(kept), kept);
    return kept;
  };
  const onReplaced = (): void => {
    for (const [key, object] of pending) {
      const cached = informer.lister.get(key);
      if (cached === undefined || isWithoutBody(cached)) budget.release(object);
    }
    pending.clear();
  };
  const onEnded = (): void => {
    for (const object of [...pending.values(), ...informer.lister.list()]) budget.release(object);
  };
  const informer: ReducibleInformer<T> = createReducibleInformer({
    ...options,
    transform: bounded,
    pageSize: SMALL_PAGE,
    ...{ onReplaced, onEnded },
  });
  informer.subscribe(({ type, object }) => {
    pending.delete(keyOf(object));
    if (type === 'delete') budget.release(object);
  });
  return informer;
}

/** Returns an object without content, in the form of the cache. */
function unread<T extends KubeObject>(object: T, transform: (object: T) => T): T {
  try {
    return transform(identityOf(object));
  } catch {
    return identityOf(object);
  }
}

function withoutBody<T extends KubeObject>(identity: T): T {
  return { ...identity, [WITHOUT_BODY]: true };
}

/** Drops the body of an object that nobody has read yet. */
export function dropBody<T extends KubeObject>(object: T, identity: (object: T) => T): void {
  const content = withoutBody(identity(object));
  for (const field of Object.keys(object)) Reflect.deleteProperty(object, field);
  Object.assign(object, content);
}

/**
 * Limits the memory that the objects of one namespace take in caches. A label makes an object part of a cache, and every user may
 * write labels: without a limit, the objects of one user could take all the memory. Drops the body of an object that exceeds the
 * budget of its namespace.
 *
 * Several caches can share a budget: see createBoundedInformer.
 */
export class BodyBudget {
  readonly #most: number;
  readonly #groupOf: (object: KubeObject) => string;
  readonly #spent = new Map<string, number>();
  /** The objects whose bodies are kept, by kind and key. */
  readonly #kept = new Map<string, Kept>();

  /**
   * @param most bytes of a group, as JSON
   * @param groupOf the objects that share these bytes: by default all of a namespace
   */
  constructor(
    most: number = BYTES_PER_NAMESPACE,
    groupOf = ({ metadata }: KubeObject): string => metadata?.namespace ?? '',
  ) {
    this.#most = most;
    this.#groupOf = groupOf;
  }

  /**
   * Returns the object, or `identity` of it if it exceeds the budget of its namespace, or the room of all.
   *
   * @param identity returns only parts of a bounded size
   * Throws as heapBytesOf.
   *
   * @param cost bytes that the object takes elsewhere, such as in indexes
   */
  keep<T extends KubeObject>(object: T, identity: (object: T) => T, { cost = 0, room }: Keeping = {}): T {
    this.release(object);
    const heapBytes = heapBytesOf(object);
    const bytes = JSON.stringify(object).length + cost;
    const group = this.#groupOf(object);
    const spent = (this.#spent.get(group) ?? 0) + bytes;
    if (spent > this.#most) return withoutBody(identity(object));
    const id = idOf(object);
    const held = room?.share.take({
      ...{ group, bytes: heapBytes + cost },
      drop: () => {
        this.#release(id);
        room.drop();
      },
    });
    if (room !== undefined && held === undefined) return withoutBody(identity(object));
    this.#spent.set(group, spent);
    this.#kept.set(id, { group, bytes, release: () => held && room?.share.release(held) });
    return object;
  }

  /** Call when the object is no longer in a cache. */
  release(object: KubeObject): void {
    this.#release(idOf(object));
  }

  #release(id: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    const { group, bytes, release } = kept;
    this.#kept.delete(id);
    const left = (this.#spent.get(group) ?? 0) - bytes;
    if (left > 0) this.#spent.set(group, left);
    else this.#spent.delete(group);
    release();
  }
}

/** How the body of an object is kept. */
interface Keeping {
  readonly cost?: number | undefined;
  /** The bytes of all groups, and what to do if the body gives way to another group later. */
  readonly room?: { readonly share: FairShare; readonly drop: () => void } | undefined;
}

interface Kept extends Pick<Held, 'group'> {
  /** As JSON. */
  readonly bytes: number;
  readonly release: () => void;
}

function idOf(object: KubeObject): string {
  return `${object.kind ?? ''}/${keyOf(object)}`;
}

/** Returns the identity of an object, in a bounded size. @param labels keys of the labels to keep */
export function identityOf<T extends KubeObject>(
  { apiVersion, kind, metadata = {} }: T,
  labels: readonly string[] = [],
): T {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } = metadata;
  const identity = { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp };
  const kept = Object.entries(metadata.labels ?? {}).filter(([key]) => labels.includes(key));
  return { apiVersion, kind, metadata: { ...identity, labels: Object.fromEntries(kept) } } as unknown as T;
}

/** Characters of a field of a status, as JSON, that is kept without the body: eight conditions with messages of 1,024. */
const LONGEST_FIELD = 12 * 1024;

/**
 * Returns the fields of a status that a controller compares before it writes, in a bounded size: without them, it would write the same
 * again and again. Undefined if there are none.
 */
export function reportedFields<S extends object, K extends keyof S>(
  status: S | undefined,
  names: readonly K[],
): Pick<S, K> | undefined {
  if (status === undefined) return undefined;
  const isShort = (name: K): boolean => JSON.stringify(status[name]).length <= LONGEST_FIELD;
  const kept = names.filter((name) => status[name] !== undefined && isShort(name));
  if (kept.length === 0) return undefined;
  return Object.fromEntries(kept.map((name) => [name, status[name]])) as Pick<S, K>;
}
