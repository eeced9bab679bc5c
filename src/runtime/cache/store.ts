import { keyOf } from '../client/resource.ts';
import type { KubeObject } from '../client/resource.ts';

/** Reads a cache. Objects are shared and must not be changed. */
export interface Lister<T> {
  /** @param key 'namespace/name', or 'name' */
  get(key: string): T | undefined;
  list(): readonly T[];
  /** Objects whose index function returned `value`. Throws for an undeclared index. */
  byIndex(index: string, value: string): readonly T[];
}

/** A change in a cache. Only an update has `old`. */
export type InformerEvent<T> = { type: 'add' | 'update'; object: T; old?: T } | { type: 'delete'; object: T };

/** Returns the index values of an object. */
export type IndexFunctions<T> = Record<string, (object: T) => string[]>;

/** Objects by key and by index. Each write returns its change. */
export class Store<T extends KubeObject> implements Lister<T> {
  #objects = new Map<string, T>();
  readonly #indexes: ReadonlyMap<string, Index<T>>;
  #listed: readonly T[] | undefined;

  constructor(indexes: IndexFunctions<T> = {}) {
    this.#indexes = new Map(Object.entries(indexes).map(([name, valuesOf]) => [name, new Index(valuesOf)]));
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): readonly T[] {
    this.#listed ??= [...this.#objects.values()];
    return this.#listed;
  }

  byIndex(index: string, value: string): readonly T[] {
    const found = this.#indexes.get(index);
    if (found === undefined) throw new Error(`there is no index "${index}"`);
    return found.get(value);
  }

  /** Adds an object or replaces the object with the same key. */
  set(object: T): InformerEvent<T> {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#listed = undefined;
    for (const index of this.#indexes.values()) index.move(key, old, object);
    return old === undefined ? { type: 'add', object } : { type: 'update', object, old };
  }

  /** Removes an object; undefined if there is no object with that key. */
  delete(object: T): InformerEvent<T> | undefined {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    if (old === undefined) return undefined;
    this.#objects.delete(key);
    this.#listed = undefined;
    for (const index of this.#indexes.values()) index.move(key, old, undefined);
    return { type: 'delete', object };
  }

  /**
   * Replaces all objects. Objects that are missing from the list are deleted. An object with the same resourceVersion
   * has not changed and is not reported.
   */
  replace(objects: readonly T[]): InformerEvent<T>[] {
    const kept = new Set(objects.map(keyOf));
    const changed = objects.filter((object) => !isSame(this.#objects.get(keyOf(object)), object));
    const absent = this.list().filter((object) => !kept.has(keyOf(object)));
    const events = changed.map((object) => this.set(object));
    return [...events, ...absent.map((object) => this.delete(object)).filter((event) => event !== undefined)];
  }
}

function isSame(one: KubeObject | undefined, other: KubeObject): boolean {
  const version = one?.metadata?.resourceVersion;
  return version !== undefined && version === other.metadata?.resourceVersion;
}

/** Objects by the values of one index function. */
class Index<T> {
  readonly #valuesOf: (object: T) => string[];
  readonly #byValue = new Map<string, Map<string, T>>();

  constructor(valuesOf: (object: T) => string[]) {
    this.#valuesOf = valuesOf;
  }

  get(value: string): readonly T[] {
    return [...(this.#byValue.get(value)?.values() ?? [])];
  }

  move(key: string, from: T | undefined, to: T | undefined): void {
    if (from !== undefined) for (const value of this.#values(from)) this.#take(key, value);
    if (to !== undefined) for (const value of this.#values(to)) this.#put(key, value, to);
  }

  /** An object whose index function throws stays in the cache, but not in that index. */
  #values(object: T): string[] {
    try {
      return this.#valuesOf(object);
    } catch {
      return [];
    }
  }

  #put(key: string, value: string, object: T): void {
    const objects = this.#byValue.get(value) ?? new Map<string, T>();
    objects.set(key, object);
    this.#byValue.set(value, objects);
  }

  #take(key: string, value: string): void {
    const objects = this.#byValue.get(value);
    objects?.delete(key);
    if (objects?.size === 0) this.#byValue.delete(value);
  }
}
