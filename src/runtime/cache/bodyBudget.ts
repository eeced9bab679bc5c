import { keyOf, resourceName, type KubeObject } from '../client/resource.ts';
import { createInformer, type Informer, type InformerOptions } from './informer.ts';

const WITHOUT_BODY = Symbol('without body');

/** Returns whether a cache dropped the body of an object: only its identity is left. Read the body from the API server. */
export function isWithoutBody(object: KubeObject | undefined): boolean {
  return object !== undefined && WITHOUT_BODY in object;
}

/** Bytes of one namespace. Fifty components of a stack with files take less than one eighth, 200 TrafficWatches may have 40 KB each. */
const BYTES_PER_NAMESPACE = 8 * 1024 * 1024;
/** Objects of a page: API servers before 1.34 send lists, and each object may have 1.5 MiB. */
export const SMALL_PAGE = 20;

/**
 * Creates an informer of objects that users can make many and large: it reads small pages, and keeps bodies within the budget.
 *
 * @param bounds.budget a budget that several informers share; default: a separate budget
 * @param bounds.costOf bytes that an object takes besides its text, such as in indexes
 */
export function createBoundedInformer<T extends KubeObject>(
  options: Omit<InformerOptions<T>, 'pageSize' | 'onReplaced'>,
  identity: (object: T) => T,
  { budget = new BodyBudget(), costOf }: { budget?: BodyBudget; costOf?: (object: T) => number } = {},
): Informer<T> {
  const { transform = (object: T) => object, metrics, resource } = options;
  /** Counted by the budget, and not in the cache yet: a list that is cut off never brings them there. */
  const pending = new Map<string, T>();
  const bounded = (object: T): T => {
    const whole = transform(object);
    const kept = budget.keep(whole, identity, costOf?.(whole));
    if (isWithoutBody(kept)) metrics?.bodyDropped(resourceName(resource));
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
  const informer: Informer<T> = createInformer({ ...options, transform: bounded, pageSize: SMALL_PAGE, onReplaced });
  informer.subscribe(({ type, object }) => {
    pending.delete(keyOf(object));
    if (type === 'delete') budget.release(object);
  });
  return informer;
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
  /** Bytes of each object whose body is kept, by its kind and key. */
  readonly #sizes = new Map<string, number>();

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
   * Returns the object, or `identity` of it if it exceeds the budget of its namespace.
   *
   * @param identity returns only parts of a bounded size
   * @param cost bytes that the object takes elsewhere, such as in indexes
   */
  keep<T extends KubeObject>(object: T, identity: (object: T) => T, cost = 0): T {
    const bytes = JSON.stringify(object).length + cost;
    this.release(object);
    const group = this.#groupOf(object);
    const spent = (this.#spent.get(group) ?? 0) + bytes;
    if (spent > this.#most) return { ...identity(object), [WITHOUT_BODY]: true };
    this.#spent.set(group, spent);
    this.#sizes.set(idOf(object), bytes);
    return object;
  }

  /** Call when the object is no longer in a cache. */
  release(object: KubeObject): void {
    const id = idOf(object);
    const bytes = this.#sizes.get(id);
    if (bytes === undefined) return;
    this.#sizes.delete(id);
    const group = this.#groupOf(object);
    const left = (this.#spent.get(group) ?? 0) - bytes;
    if (left > 0) this.#spent.set(group, left);
    else this.#spent.delete(group);
  }
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
