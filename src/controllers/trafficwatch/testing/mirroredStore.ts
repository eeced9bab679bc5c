import type { CachedNode } from '../../../nodes/cachedNode.ts';
import { Store, type IndexFunctions, type InformerEvent } from '../../../runtime/cache/store.ts';
import { apiVersionOf, keyOf, type KubeObject, type Resource } from '../../../runtime/client/resource.ts';
import { NODES } from '../../../runtime/client/resources.ts';
import type { FakeApi } from '../../../runtime/testing/fakeApi/fakeApi.ts';
import { entryOf } from '../../../runtime/testing/fakeApi/fieldOwners.ts';

interface MirroredStoreOptions<T extends KubeObject> {
  readonly api: FakeApi;
  readonly resource: Resource;
  /** The object as the API server has it; default: as the cache has it. */
  readonly whole?: (object: T) => KubeObject;
  readonly indexes?: IndexFunctions<T>;
}

/**
 * A cache whose content the fake API server has too: an object that a test puts into the cache, or deletes from it, is
 * put or deleted there. A write to the API server does not change the cache: the cache is behind.
 */
export class MirroredStore<T extends KubeObject> extends Store<T> {
  readonly #options: MirroredStoreOptions<T>;

  constructor(options: MirroredStoreOptions<T>) {
    super(options.indexes);
    this.#options = options;
  }

  override set(object: T): InformerEvent<T> {
    const { api, resource, whole } = this.#options;
    const typed = { apiVersion: apiVersionOf(resource), kind: resource.kind };
    api.objects.set(this.#id(object), { ...typed, ...(whole?.(object) ?? object) });
    return super.set(object);
  }

  override delete(object: T): InformerEvent<T> | undefined {
    this.#options.api.objects.delete(this.#id(object));
    return super.delete(object);
  }

  #id(object: T): string {
    return `${this.#options.resource.kind} ${keyOf(object)}`;
  }
}

/**
 * The Node of which the cache keeps a part.
 *
 * @param manager the field manager of the owned label keys
 */
export function wholeNode(node: CachedNode, manager: string): KubeObject {
  const { metadata, labels, otherLabels, createdAt, ownedKeys, otherOwners = {} } = node;
  const owners = [
    ...ownedKeys.map((key) => [key, manager] as const),
    ...Object.entries(otherOwners).map(([key, owner]) => [key, owner] as const),
  ];
  const managedFields = [...Map.groupBy(owners, ([, owner]) => owner)].map(([owner, keys]) =>
    entryOf(
      { manager: owner, operation: 'Update', apiVersion: apiVersionOf(NODES) },
      keys.map(([key]) => ['metadata', 'labels', key]),
    ),
  );
  const others = otherLabels.keys.map((key, place) => [key, otherLabels.values[place] ?? ''] as const);
  const all = { ...labels, ...Object.fromEntries(others) };
  return { metadata: { ...metadata, labels: all, creationTimestamp: new Date(createdAt), managedFields } };
}
