import { isDeepStrictEqual } from 'node:util';
import type { PodPlacement, PodPlacementEntry } from '../../api/podplacement/schema.ts';
import type { TrafficWatch } from '../../api/trafficwatch/schema.ts';
import type { Informer } from '../../runtime/cache/informer.ts';
import type { Controller } from '../../runtime/controller/controller.ts';
import { placementEntryOf } from './decide/workload/podPlacement.ts';

export interface PlacementEvents {
  readonly watches: Pick<Informer<TrafficWatch>, 'lister' | 'subscribe'>;
  readonly placements: Pick<Informer<PodPlacement>, 'lister' | 'subscribe'>;
  /** Queue with the names of namespaces. */
  readonly queue: Pick<Controller['queue'], 'add'>;
  /** Called with the keys of TrafficWatches whose entry changed. */
  readonly changed: (keys: readonly string[]) => void;
}

/**
 * Enqueues namespaces when the content of their PodPlacement, or the object, may have changed.
 * @returns the function that enqueues every namespace with a TrafficWatch or a PodPlacement
 */
export function followPlacements({ watches, placements, queue, changed }: PlacementEvents): () => void {
  watches.subscribe((event) => {
    const before = event.type === 'update' && event.old ? partsOf(event.old) : undefined;
    // Thousands beyond the limits have no entry: reading all of a namespace for each would take minutes.
    if (!isDeepStrictEqual(before, partsOf(event.object))) queue.add(namespaceOf(event.object));
  });
  placements.subscribe((event) => {
    const namespace = namespaceOf(event.object);
    queue.add(namespace);
    const before = event.type === 'update' ? event.old : undefined;
    changed(changedNames(before, event.object).map((name) => `${namespace}/${name}`));
  });
  return () => {
    const all = [...watches.lister.list(), ...placements.lister.list()];
    for (const namespace of new Set(all.map(namespaceOf))) queue.add(namespace);
  };
}

function namespaceOf({ metadata }: Pick<TrafficWatch, 'metadata'>): string {
  return metadata?.namespace ?? '';
}

/** Returns the part of the PodPlacement for a TrafficWatch: its entry, and its UID for the order. Undefined if it adds nothing. */
function partsOf(watch: TrafficWatch): unknown[] | undefined {
  const entry = placementEntryOf(watch);
  return entry && [watch.metadata?.uid, entry];
}

/** The TrafficWatches that one of two states has, or both with other terms. Names of nodes change too often. */
function changedNames(a: PodPlacement | undefined, b: PodPlacement): string[] {
  const before = termsOf(a);
  const after = termsOf(b);
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => !isDeepStrictEqual(before.get(name), after.get(name)));
}

function termsOf(placement: PodPlacement | undefined): Map<string, object> {
  return new Map((placement?.spec.entries ?? []).map((entry) => [entry.trafficWatch, withoutNodes(entry)]));
}

function withoutNodes({ avoidedNodes, ...entry }: PodPlacementEntry): object {
  return { ...entry, isAvoiding: avoidedNodes !== undefined };
}
