import { isDeepStrictEqual } from 'node:util';
import type { PodPlacement, PodPlacementEntry } from '../../api/podplacement/schema.ts';
import type { TrafficWatch } from '../../api/trafficwatch/schema.ts';
import type { Informer } from '../../runtime/cache/informer.ts';
import type { Controller } from '../../runtime/controller/controller.ts';

export interface PlacementEvents {
  readonly watches: Pick<Informer<TrafficWatch>, 'lister' | 'subscribe'>;
  readonly placements: Pick<Informer<PodPlacement>, 'lister' | 'subscribe'>;
  /** Of namespaces. */
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
    const old = event.type === 'update' ? event.old : undefined;
    // Without both there is no entry, as for the thousands beyond the limits: reading all of a namespace for each would take minutes.
    if (!mayHaveEntry(event.object) && (old === undefined || !mayHaveEntry(old))) return;
    if (old && isDeepStrictEqual(partsOf(old), partsOf(event.object))) return;
    queue.add(namespaceOf(event.object));
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

function mayHaveEntry({ status }: TrafficWatch): boolean {
  return status?.labelKey !== undefined && status.podSelector !== undefined;
}

/** What the entry of a TrafficWatch is made of. */
function partsOf({ metadata, spec, status }: TrafficWatch): unknown[] {
  const { mode, placement } = (spec as Partial<TrafficWatch['spec']> | undefined) ?? {};
  const { labelKey, podSelector, avoidedNodes } = status ?? {};
  return [metadata?.uid, metadata?.deletionTimestamp, mode, placement, labelKey, podSelector, avoidedNodes];
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
