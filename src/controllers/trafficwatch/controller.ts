import type { V1Deployment } from '@kubernetes/client-node';
import type { Registry } from 'prom-client';
import { missingDataOf } from '../../api/trafficwatch/spec/missingData.ts';
import { minHoldOf, MOST_PASSES, passesOf } from '../../api/trafficwatch/spec/passes.ts';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../api/trafficwatch/schema.ts';
import type { CachedNode } from '../../nodes/cachedNode.ts';
import type { UnmeasuredNodes } from '../../nodes/unmeasuredNodes.ts';
import { Applier } from '../../runtime/apply/apply.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import { Controller, type ControllerMetrics } from '../../runtime/controller/controller.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';
import { sameSpec } from '../../runtime/controller/sameSpec.ts';
import type { Informer } from '../../runtime/cache/informer.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { keyOf, type KubeObject } from '../../runtime/client/resource.ts';
import { createOverlay, type OverlaidCache } from '../../runtime/cache/overlay.ts';
import { StatusWriter } from '../../runtime/status/statusWriter.ts';
import type { Transport } from '../../runtime/client/transport.ts';
import type { UsageFeed } from '../../usage/pass/feed.ts';
import type { Writers } from './act/act.ts';
import { CrdCheck } from './observe/crd/crdCheck.ts';
import { LabelWrites } from './act/labelWrites.ts';
import { createTrafficWatchMetrics, type TrafficWatchMetrics } from './metrics.ts';
import { NodeLabelWriter } from './act/nodeLabelWriter.ts';
import { carriesOrphan, lookIfNews } from './observe/nodeNews.ts';
import { claimedKeys } from './observe/labelKeys.ts';
import { BY_LABEL_KEY, type Sources } from './observe/observe.ts';
import { LabelTimes } from './observe/labelTimes.ts';
import { PassMemory } from './observe/passMemory.ts';
import { PassViews } from './observe/passViews.ts';
import { SpecMemory } from './observe/crd/specMemory.ts';
import { PolicyCheck } from './observe/workload/policyCheck.ts';
import { Targets } from './observe/workload/targets.ts';
import { readingsOf } from './observe/reading/readingOf.ts';
import type { WaitingPods } from './observe/workload/waitingPods.ts';
import { SelectorsInUse } from './observe/selectorsInUse.ts';
import { isOwnedBy } from './decide/deployment/deployment.ts';
import { FIELD_MANAGER } from './names.ts';
import { PassWork } from './passWork.ts';
import { reconcile } from './reconcile.ts';
import { PodRejections, watchKeysOf, type FailedPod } from './act/rejectedPods.ts';
import { sweepOrphans } from './act/sweep.ts';
import { watchChanged } from './watchChanges.ts';

/** The only key in the work queue of the sweep. */
const SWEEP = 'orphans';
/** Reconciles mostly wait for the API server, and the transport limits its calls. Many workers shorten a pass. */
const WORKERS = 32;
/**
 * The first labels of all nodes are written in one reconcile. An API server on two busy cores takes 130 PATCHes a
 * second, so 50,000 nodes take 385 s; the rest is reserve. A reconcile that times out writes no status and repeats the
 * calls that it had started. Each call has its own deadline.
 */
const RECONCILE_TIMEOUT_MS = 600_000;
/** A kubelet rejects pods one after the other. Wait this long, so that one event reports all of them: ms. */
const REJECTIONS_TOGETHER_MS = 3_000;

export interface TrafficWatchControllerOptions {
  /** Gated on leadership: refuses writes in a standby. */
  readonly client: Client;
  readonly clock: Clock;
  readonly feed: UsageFeed;
  /** Problems that keep the operator from measuring now. */
  readonly measurementProblems: Sources['measurementProblems'];
  readonly watches: Informer<TrafficWatch>;
  readonly nodes: Informer<CachedNode>;
  /** The transform of that informer. */
  readonly trimNode: (node: KubeObject) => CachedNode;
  /** Nodes that cannot be measured, and why. */
  readonly unmeasured: UnmeasuredNodes;
  readonly deployments: Informer<V1Deployment>;
  readonly failedPods: Informer<FailedPod>;
  readonly waitingPods: Pick<WaitingPods, 'podsIn'>;
  /** For requests for the schema that the API server publishes. */
  readonly transport: Pick<Transport, 'request'>;
  readonly events: EventRecorder;
  readonly registry: Registry;
  readonly metrics?: ControllerMetrics;
  readonly logger: Logger;
  readonly isLeader: () => boolean;
}

/** The controllers of TrafficWatch, ready to run. */
export interface TrafficWatchControllers {
  readonly controllers: readonly Controller[];
  /** Must run together with the controllers. */
  readonly crd: CrdCheck;
  /** Enqueues every TrafficWatch and the sweep, for example at the start of leadership. */
  enqueueAll(): void;
}

/** If the watch is forbidden, the cache is stale: treat it as empty, so that reconciles GET the Deployment. */
function upToDate(informer: Informer<V1Deployment>): OverlaidCache<V1Deployment> {
  const { lister } = informer;
  return {
    lister: {
      get: (key) => (informer.refusal === undefined ? lister.get(key) : undefined),
      list: () => (informer.refusal === undefined ? lister.list() : []),
      byIndex: (index, value) => (informer.refusal === undefined ? lister.byIndex(index, value) : []),
    },
    subscribe: (listener) => informer.subscribe(listener),
  };
}

type Memory = Pick<Followers, 'labelTimes' | 'passMemory'>;

function sourcesOf(o: TrafficWatchControllerOptions, crd: CrdCheck, memory: Memory): Sources {
  const { client } = o;
  const watches = createOverlay(o.watches, o);
  return {
    client,
    clock: o.clock,
    feed: o.feed,
    measurementProblems: o.measurementProblems,
    watches,
    nodes: createOverlay(o.nodes, o),
    passViews: new PassViews(),
    ...memory,
    unmeasured: o.unmeasured,
    deployments: createOverlay(upToDate(o.deployments), { clock: o.clock, includeCreated: true }),
    deploymentsRefusal: () => o.deployments.refusal,
    targets: new Targets(o),
    policy: new PolicyCheck(o),
    waitingPods: o.waitingPods,
    crd,
    specs: new SpecMemory(),
    labelWrites: new LabelWrites(() => o.feed.passes[0]?.pass ?? 0),
    statuses: new StatusWriter({ client, resource: TRAFFIC_WATCHES, fieldManager: FIELD_MANAGER, objects: watches }),
  };
}

function writersOf(o: TrafficWatchControllerOptions, sources: Sources): Writers {
  const { client, clock, logger } = o;
  const common = { client, clock, fieldManager: FIELD_MANAGER };
  return {
    ...common,
    applier: new Applier({ ...common, logger }),
    nodeLabels: new NodeLabelWriter({
      ...common,
      trim: o.trimNode,
      nodes: sources.nodes,
      labels: sources.labelWrites,
    }),
    watches: sources.watches,
    statuses: sources.statuses,
    deployments: sources.deployments,
  };
}

/** The most passes that the verdict of any TrafficWatch compares. Ignores specs that an older CRD let through. */
function passesNeeded(watches: readonly TrafficWatch[]): number {
  const counts = watches.flatMap(({ spec }) => {
    const { unfit, fit } = passesOf(spec);
    return [unfit, fit].filter((count) => Number.isInteger(count) && count <= MOST_PASSES);
  });
  return Math.max(0, ...counts);
}

interface Followers {
  readonly sweep: () => void;
  readonly passWork: PassWork;
  readonly labelTimes: LabelTimes;
  readonly passMemory: PassMemory;
  readonly nodeLabels: Writers['nodeLabels'];
  readonly metrics: TrafficWatchMetrics;
}

/**
 * Enqueues TrafficWatches on events: changes of the TrafficWatch, of others that claim the same label key, of its
 * Deployment, its rejected pods and the nodes, and the end of each pass.
 * @returns the function that enqueues everything
 */
function subscribe(
  o: TrafficWatchControllerOptions,
  sources: Sources,
  queue: Controller['queue'],
  { sweep, passWork, labelTimes, passMemory, nodeLabels, metrics }: Followers,
): () => void {
  const enqueueRivals = (watch: TrafficWatch): void => {
    for (const key of claimedKeys(watch)) {
      for (const rival of o.watches.lister.byIndex(BY_LABEL_KEY, key)) queue.add(keyOf(rival));
    }
  };
  const isClaimed = (key: string): boolean => o.watches.lister.byIndex(BY_LABEL_KEY, key).length > 0;
  const enqueueWatches = (): void => {
    for (const watch of o.watches.lister.list()) queue.add(keyOf(watch));
  };
  const enqueueAll = (): void => {
    enqueueWatches();
    sweep();
  };
  const nodeOf = (name: string): CachedNode | undefined => o.nodes.lister.get(name);
  const selectors = new SelectorsInUse(() => o.watches.lister.list());
  o.watches.subscribe((event) => {
    const watches = o.watches.lister.list();
    o.feed.keep(passesNeeded(watches));
    const isStatusOnly = event.type === 'update' && sameSpec(event.old, event.object);
    if (!isStatusOnly) {
      const readings = readingsOf(watches, nodeOf);
      o.feed.evaluate(readings);
      passMemory.followOutages(readings);
      passMemory.trackMissing(
        readingsOf(
          watches.filter(({ spec }) => missingDataOf(spec) !== undefined),
          nodeOf,
        ),
      );
    }
    labelTimes.isNeeded = watches.some(({ spec }) => minHoldOf(spec) !== undefined);
    if (event.type === 'update' && event.old && !watchChanged(event.old, event.object)) return;
    selectors.changed();
    queue.add(keyOf(event.object));
    enqueueRivals(event.object);
    if (event.type === 'update' && event.old) enqueueRivals(event.old);
    sweep();
  });
  o.deployments.subscribe((event) => {
    const watch = o.watches.lister.get(keyOf(event.object));
    if (watch && (event.type === 'delete' || isOwnedBy(event.object, watch))) queue.add(keyOf(watch));
  });
  o.failedPods.subscribe((event) => {
    if (event.type === 'delete') return;
    const keys = watchKeysOf(event.object, (labelKey) => o.watches.lister.byIndex(BY_LABEL_KEY, labelKey));
    for (const key of keys) queue.addAfter(key, REJECTIONS_TOGETHER_MS);
  });
  const known = { nodes: sources.nodes, selectors, underWay: (node: string) => nodeLabels.underWay(node) };
  o.nodes.subscribe((event) => {
    if (event.type === 'delete') sources.labelWrites.deleted(event.object);
    else sources.labelWrites.saw(event.object);
    labelTimes.saw(event);
    if (event.type !== 'delete' && carriesOrphan(event.object, isClaimed)) sweep();
    lookIfNews(event, known, enqueueWatches);
  });
  o.feed.snapshots.subscribe((snapshot) => {
    passMemory.saw(snapshot, o.unmeasured.notMeasurable);
    // Also without any TrafficWatch: alerts about exporters use this metric.
    void o.unmeasured.lookedAt(snapshot).then(() => metrics.notMeasurable(o.unmeasured.notMeasurable));
    if (o.watches.lister.list().length > 0) passWork.began(snapshot);
    enqueueAll();
  });
  return enqueueAll;
}

/** Creates the controller of TrafficWatches and the controller that removes orphaned labels. */
export function createTrafficWatchControllers(o: TrafficWatchControllerOptions): TrafficWatchControllers {
  const crd = new CrdCheck(o);
  const memory = { labelTimes: new LabelTimes(), passMemory: new PassMemory(() => o.feed.windowMs) };
  const sources = sourcesOf(o, crd, memory);
  const writers = writersOf(o, sources);
  const { logger, metrics, clock } = o;
  const podRejections = new PodRejections({ failedPods: o.failedPods.lister, events: o.events });
  const dependencies = { sources, writers, podRejections, events: o.events, logger, isLeader: o.isLeader };
  const watchMetrics = createTrafficWatchMetrics(o.registry);
  const passWork = new PassWork(clock, watchMetrics);
  const main = new Controller({
    name: 'trafficwatch',
    reconcile: (key, signal) => reconcile({ ...dependencies, metrics: watchMetrics }, key, signal),
    workers: WORKERS,
    reconcileTimeoutMs: RECONCILE_TIMEOUT_MS,
    onIdle: () => passWork.ended(),
    logger,
    metrics,
    clock,
  });
  const mayWrite = (): boolean => o.watches.synced && o.nodes.synced && !crd.isInTheWay;
  const sweeper = new Controller({
    name: 'orphanedlabels',
    reconcile: () => sweepOrphans({ sources, writers, synced: mayWrite, isLeader: o.isLeader, logger }),
    workers: 1,
    logger,
    metrics,
    clock,
  });
  const enqueueAll = subscribe(o, sources, main.queue, {
    sweep: () => sweeper.queue.add(SWEEP),
    passWork,
    ...memory,
    nodeLabels: writers.nodeLabels,
    metrics: watchMetrics,
  });
  return { controllers: [main, sweeper], crd, enqueueAll };
}
