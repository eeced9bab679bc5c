import type { ApiError } from '../client/errors.ts';
import type { KubeObject, Resource } from '../client/resource.ts';
import type { Informer, InformerEvent, Lister } from './informer.ts';

/**
 * Combines informers of one kind that have different objects, such as single objects by their names, into one: synced when all are, refused when
 * one is.
 *
 * @param resource the kind
 */
export function combineInformers<T extends KubeObject>(
  resource: Resource<T>,
  informers: readonly Informer<T>[],
): Informer<T> {
  const lister: Lister<T> = {
    get: (key) => firstDefined(informers, (each) => each.lister.get(key)),
    list: () => informers.flatMap((each) => each.lister.list()),
    byIndex: (index, value) => informers.flatMap((each) => each.lister.byIndex(index, value)),
  };
  return {
    resource,
    lister,
    get synced() {
      return informers.every(({ synced }) => synced);
    },
    get refusal(): ApiError | undefined {
      return firstDefined(informers, ({ refusal }) => refusal);
    },
    async whenSynced(signal) {
      await Promise.all(informers.map((each) => each.whenSynced(signal)));
    },
    async whenSyncedOrRefused(signal) {
      await Promise.all(informers.map((each) => each.whenSyncedOrRefused(signal)));
    },
    subscribe(listener: (event: InformerEvent<T>) => void) {
      const ends = informers.map((each) => each.subscribe(listener));
      return () => ends.forEach((end) => end());
    },
    async run(signal) {
      await Promise.all(informers.map((each) => each.run(signal)));
    },
  };
}

function firstDefined<T, R>(all: readonly T[], read: (one: T) => R | undefined): R | undefined {
  for (const one of all) {
    const found = read(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
