import { sameSpec, keyOf } from '../../runtime/client/resource.ts';
import type { V1Deployment } from '@kubernetes/client-node';
import type { TrafficWatch } from '../../api/trafficwatch/schema.ts';
import { labelOf, nodeChanged, type CachedNode } from '../../nodes/cachedNode.ts';
import type { UnmeasuredNodes } from '../../nodes/unmeasuredNodes.ts';
import { bodyChanged, isWithoutBody } from '../../runtime/cache/bodyBudget.ts';
import type { Informer, InformerEvent } from '../../runtime/cache/informer.ts';
import type { Controller } from '../../runtime/controller/controller.ts';
import type { UsageFeed } from '../../usage/pass/feed.ts';
import type { Writers } from './act/act.ts';
import type { PodEvictions } from './act/evictedPods.ts';
import { isOwnedBy } from './decide/deployment.ts';
import type { TrafficWatchMetrics } from './metrics.ts';
import type { Demands } from './observe/demands.ts';
import { claimedKeys } from './model/labelKeys.ts';
import type { LabelTimes } from './observe/labelHistory.ts';
import { BY_LABEL_KEY } from './names.ts';
import type { Sources } from './observe/observe.ts';
import { wasLost, watchKeysOf, type EndedPod } from './observe/workload/endedPods.ts';
import type { PassMemory } from './observe/passMemory.ts';
import type { LimitChange, WatchLimits } from './observe/watchLimits.ts';
import type { PassWork } from './passWork.ts';
import type { LabelMatcher } from '../../api/labelMatcher.ts';
import type { Overlay } from '../../runtime/cache/overlay.ts';
import { orphanedKeys } from './decide/labels/nodeLabels.ts';
import { isDeepStrictEqual } from 'node:util';
import type { PodPlacement, PodPlacementEntry } from '../../api/podplacement/schema.ts';
import { placementEntryOf } from './decide/workload/podPlacement.ts';

/** A kubelet rejects pods one after the other. Wait this long, so that one event reports all of them: ms. */
const REJECTIONS_TOGETHER_MS = 3_000;

/** The sources of events. */
export interface Watched {
  readonly watches: Informer<TrafficWatch>;
  readonly nodes: Informer<CachedNode>;
  /** Undefined if the operator writes no Deployments. */
  readonly deployments: Informer<V1Deployment> | undefined;
  readonly endedPods: Informer<EndedPod>;
  readonly feed: UsageFeed;
  /** Nodes that cannot be measured, and why. */
  readonly unmeasured: UnmeasuredNodes;
}

/** The queues of TrafficWatch keys. */
interface Queues {
  readonly decided: Controller['queue'];
  /** TrafficWatches beyond the limits: however many they are, the others do not wait for them. */
  readonly beyond: Controller['queue'];
}

/** The receivers of events. */
export interface Followers {
  readonly sweep: () => void;
  readonly passWork: PassWork;
  readonly limits: WatchLimits;
  readonly demands: Demands;
  readonly labelTimes: LabelTimes;
  readonly passMemory: PassMemory;
  readonly nodeLabels: Writers['nodeLabels'];
  readonly podEvictions: PodEvictions;
  readonly metrics: TrafficWatchMetrics;
}

/**
 * Enqueues TrafficWatches on events: changes of the TrafficWatch, of others that claim the same label key, of its
 * Deployment, its rejected pods and the nodes, and the end of each pass.
 * @returns the function that enqueues everything
 */
export function subscribe(
  o: Watched,
  sources: Sources,
  queues: Queues,
  { sweep, passWork, limits, demands, labelTimes, passMemory, nodeLabels, podEvictions, metrics }: Followers,
): () => void {
  const enqueue = (key: string): void => (limits.isBeyond(key) ? queues.beyond : queues.decided).add(key);
  const enqueueRivals = (watch: TrafficWatch): void => {
    for (const key of claimedKeys(watch)) {
      for (const rival of o.watches.lister.byIndex(BY_LABEL_KEY, key).map(keyOf)) {
        if (limits.within.has(rival)) enqueue(rival);
      }
    }
  };
  const isClaimed = (key: string): boolean => o.watches.lister.byIndex(BY_LABEL_KEY, key).length > 0;
  const enqueueDecided = (): void => {
    for (const key of limits.within) enqueue(key);
  };
  const enqueueAll = (): void => {
    for (const watch of o.watches.lister.list()) enqueue(keyOf(watch));
    sweep();
  };
  const followLimits = ({ entered, left, moved = [] }: LimitChange): void => {
    for (const other of left) demands.set(other, undefined);
    for (const other of entered) demands.set(other, o.watches.lister.get(other));
    for (const other of [...entered, ...left, ...moved]) enqueue(other);
  };
  o.watches.subscribe((event) => {
    const key = keyOf(event.object);
    const wasWithin = limits.within.has(key);
    followLimits(limits.saw(event));
    const isWithin = limits.within.has(key);
    const isSameSpec = event.type !== 'update' || (sameSpec(event.old, event.object) && !bodyChanged(event));
    if (isWithin && !isSameSpec) demands.set(key, event.object);
    if (event.type === 'update' && event.old && !watchChanged(event.old, event.object)) return;
    enqueue(key);
    // Beyond the limits it claims no label key: nobody else has to look.
    if (!isWithin && !wasWithin) return;
    enqueueRivals(event.object);
    if (event.type === 'update' && event.old) enqueueRivals(event.old);
    sweep();
  });
  o.deployments?.subscribe((event) => {
    const watch = o.watches.lister.get(keyOf(event.object));
    if (watch && (event.type === 'delete' || isOwnedBy(event.object, watch))) enqueue(keyOf(watch));
  });
  o.endedPods.subscribe((event) => {
    if (event.type === 'delete' || wasLost(event)) return;
    const all = watchKeysOf(event.object, (labelKey) => o.watches.lister.byIndex(BY_LABEL_KEY, labelKey));
    const keys = all.filter((each) => limits.within.has(each));
    podEvictions.saw(event, keys);
    if (event.object.rejected === undefined) return;
    for (const key of keys) queues.decided.addAfter(key, REJECTIONS_TOGETHER_MS);
  });
  const known = { nodes: sources.nodes, demands, underWay: (node: string) => nodeLabels.underWay(node) };
  let nodes = 0;
  o.nodes.subscribe((event) => {
    if (event.type !== 'update') followLimits(limits.sawNodes((nodes += event.type === 'add' ? 1 : -1)));
    if (event.type === 'delete') sources.labelWrites.deleted(event.object);
    else sources.labelWrites.saw(event.object);
    labelTimes.saw(event);
    if (event.type !== 'delete' && carriesOrphan(event.object, isClaimed)) sweep();
    lookIfNews(event, known, enqueueDecided);
  });
  o.feed.snapshots.subscribe((snapshot) => {
    passMemory.saw(snapshot, o.unmeasured.notMeasurable);
    // Also without any TrafficWatch: alerts about exporters use this metric.
    void o.unmeasured.lookedAt(snapshot).then(() => metrics.notMeasurable(o.unmeasured.notMeasurable));
    metrics.limits(limits.beyond, demands.labelBytes);
    if (limits.within.size > 0) passWork.began(snapshot);
    enqueueDecided();
    sweep();
  });
  return enqueueAll;
}
/** The fields that an event of a TrafficWatch compares. The uid differs if it was deleted and created again while no watch ran. */
type Seen = Pick<TrafficWatch, 'metadata' | 'status'>;

/**
 * True if the change needs a reconcile: also if only the cache has dropped the body. The operator's own status writes do not, or each would
 * cause another.
 */
export function watchChanged(a: Seen, b: Seen): boolean {
  const relevant = (seen: Seen): string => {
    const { metadata, status } = seen;
    return JSON.stringify([
      isWithoutBody(seen),
      metadata?.uid,
      metadata?.generation,
      metadata?.deletionTimestamp,
      metadata?.finalizers,
      status?.labelKey,
    ]);
  };
  return relevant(a) !== relevant(b);
}

/**
 * Whether an event of a Node contains a change that this process does not know yet. Heartbeats, this process's own
 * writes and states from before these writes are no news. Otherwise labelling ten thousand nodes would enqueue the
 * TrafficWatches ten thousand times. Exception: the event of an own write counts as news if it arrives before the
 * response to that write.
 */
function isNews(event: InformerEvent<CachedNode>, { nodes, demands }: Pick<Known, 'nodes' | 'demands'>): boolean {
  if (event.type !== 'update' || event.old === undefined) return true;
  const { addresses } = event.object;
  const known = nodes.newest(event.old);
  const newest = nodes.newest(event.object);
  // The response to a label write contains only metadata, no addresses.
  const hasChanged = nodeChanged({ ...known, addresses: event.old.addresses }, { ...newest, addresses });
  return hasChanged || entersOrLeaves(demands.selectors, known, newest);
}

/** Whether a Node enters or leaves the selection of any selector between these two states. */
function entersOrLeaves(selectors: Iterable<LabelMatcher>, one: CachedNode, other: CachedNode): boolean {
  if (one.otherLabels === other.otherLabels && one.hostname === other.hostname) return false;
  for (const matches of selectors) {
    if (matches((key) => labelOf(one, key)) !== matches((key) => labelOf(other, key))) return true;
  }
  return false;
}

/** The state that decides whether an event is news. */
interface Known {
  /** The Nodes, overlaid with this process's own writes. */
  readonly nodes: Pick<Overlay<CachedNode>, 'newest'>;
  /** Other labels are news only if a TrafficWatch selects nodes by them. */
  readonly demands: { readonly selectors: Iterable<LabelMatcher> };
  /** Resolves when the running patch of this Node has a response; undefined if no patch is running. */
  readonly underWay: (node: string) => Promise<unknown> | undefined;
}

/**
 * Calls `look` if an event is news. While a patch of the Node is running, decides only after its response, so that the
 * event of that patch does not count.
 */
export function lookIfNews(event: InformerEvent<CachedNode>, known: Known, look: () => void): void {
  const decide = (): void => {
    if (isNews(event, known)) look();
  };
  const answer = event.type === 'update' ? known.underWay(event.object.name) : undefined;
  if (answer === undefined) decide();
  else void answer.then(decide);
}

/**
 * Whether a Node has a label that the operator wrote and no TrafficWatch claims.
 * @param isClaimed whether a TrafficWatch claims this label key
 */
export function carriesOrphan(node: CachedNode, isClaimed: (key: string) => boolean): boolean {
  return orphanedKeys(node, isClaimed).length > 0;
}

/** The sources of events about PodPlacements, and their receivers. */
interface PlacementEvents {
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
