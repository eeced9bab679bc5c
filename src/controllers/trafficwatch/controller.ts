import type { V1Deployment } from '@kubernetes/client-node';
import type { PodPlacement } from '../../api/podplacement/schema.ts';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../api/trafficwatch/schema.ts';
import type { CachedNode } from '../../nodes/cachedNode.ts';
import { Applier } from '../../runtime/apply/apply.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import { Controller, type ControllerMetrics, type Reconcile } from '../../runtime/controller/controller.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';
import type { Informer } from '../../runtime/cache/informer.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import { createOverlay, type OverlaidCache, type Overlay } from '../../runtime/cache/overlay.ts';
import { PacedQueue } from '../../runtime/controller/workqueue.ts';
import { StatusWriter } from '../../runtime/status/statusWriter.ts';
import type { Transport } from '../../runtime/client/transport.ts';
import type { Writers } from './act/act.ts';
import type { AllowedDeployments, Sources } from './observe/observe.ts';
import { CrdCheck, SpecMemory } from './observe/crdFields.ts';
import { LabelWrites, LabelTimes } from './observe/labelHistory.ts';
import type { TrafficWatchMetrics } from './metrics.ts';
import { NodeLabelWriter } from './act/nodeLabelWriter.ts';
import { Demands } from './observe/demands.ts';
import { PassMemory } from './observe/passMemory.ts';
import { PassViews } from './observe/passViews.ts';
import { readingNeedOf, type ReadingNeed, type NodeLookup } from './observe/reading/readingOf.ts';
import { followPlacements, subscribe, type Followers, type Watched } from './subscriptions.ts';
import { PodPlacements } from './act/podPlacements.ts';
import { PolicyCheck } from './observe/workload/policyCheck.ts';
import { Targets } from './observe/workload/targets.ts';
import type { WaitingPods } from './observe/workload/waitingPods.ts';
import { FIELD_MANAGER } from './names.ts';
import { PassWork } from './passWork.ts';
import { reconcile } from './reconcile.ts';
import { WatchLimits, type Limits } from './observe/watchLimits.ts';
import { PodEvictions } from './act/evictedPods.ts';
import { PodRejections } from './act/rejectedPods.ts';
import { sweepOrphans } from './cleanup.ts';

/** The only key in the work queue of the sweep. */
const SWEEP = 'orphans';
/** Reconciles mostly wait for the API server, and the transport limits its calls. Many workers shorten a pass. */
const WORKERS = 32;
/** PodPlacements that are written at once. */
const PLACERS = 4;
/** Delay before a PodPlacement is written if the cache of TrafficWatches is not synced: ms. */
const NOT_SYNCED_MS = 1_000;
/**
 * The first labels of all nodes are written in one reconcile. An API server on two busy cores takes 130 PATCHes a
 * second, so 50,000 nodes take 385 s; the rest is reserve. A reconcile that times out writes no status and repeats the
 * calls that it had started. Each call has its own deadline.
 */
const RECONCILE_TIMEOUT_MS = 600_000;

interface TrafficWatchControllerOptions extends Watched {
  /** Gated on leadership: refuses writes in a standby. */
  readonly client: Client;
  readonly clock: Clock;
  /** Problems that keep the operator from measuring now. */
  readonly measurementProblems: Sources['measurementProblems'];
  /** The transform of the informer of Nodes. */
  readonly trimNode: (node: KubeObject) => CachedNode;
  readonly placements: Informer<PodPlacement>;
  readonly waitingPods: Pick<WaitingPods, 'podsIn'>;
  /** How many TrafficWatches are decided. */
  readonly limits: Limits;
  readonly allowedDeployments: AllowedDeployments;
  /** For requests for the schema that the API server publishes. */
  readonly transport: Pick<Transport, 'request'>;
  readonly events: EventRecorder;
  readonly watchMetrics: TrafficWatchMetrics;
  readonly metrics?: ControllerMetrics;
  readonly logger: Logger;
  readonly isLeader: () => boolean;
}

/** The controllers of TrafficWatch, ready to run. */
interface TrafficWatchControllers {
  readonly controllers: readonly Controller[];
  /** Must run together with the controllers. */
  readonly crd: CrdCheck;
  /** Enqueues every TrafficWatch and the sweep, for example at the start of leadership. */
  enqueueAll(): void;
  /** See PolicyCheck. */
  webhookReady(): boolean | undefined;
}

/** The cache without an informer: no Deployment is read then. */
const NO_DEPLOYMENTS: OverlaidCache<V1Deployment> = {
  lister: { get: () => undefined, list: () => [], byIndex: () => [] },
  subscribe: () => () => undefined,
};

/** If the watch is forbidden, the cache is stale: treat it as empty, so that reconciles GET the Deployment. */
function upToDate(informer: Informer<V1Deployment> | undefined): OverlaidCache<V1Deployment> {
  if (informer === undefined) return NO_DEPLOYMENTS;
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

type Memory = Pick<Followers, 'limits' | 'labelTimes' | 'passMemory'>;

function placementsOf(
  o: TrafficWatchControllerOptions,
  watches: Overlay<TrafficWatch>,
  changed: (keys: readonly string[]) => void,
): PodPlacements {
  const { client, clock, logger } = o;
  return new PodPlacements({
    clock,
    client,
    applier: new Applier({ client, clock, logger, fieldManager: FIELD_MANAGER, logLevel: 'debug' }),
    watches,
    placements: createOverlay(o.placements, { clock, includeCreated: true }),
    refusal: () => o.placements.refusal,
    changed,
  });
}

interface Parts {
  readonly watches: Overlay<TrafficWatch>;
  readonly placements: PodPlacements;
  readonly policy: PolicyCheck;
  readonly crd: CrdCheck;
}

function sourcesOf(
  o: TrafficWatchControllerOptions,
  { watches, placements, policy, crd }: Parts,
  memory: Memory,
): Sources {
  const { client } = o;
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
    deploymentsRefusal: () => o.deployments?.refusal,
    allowedDeployments: o.allowedDeployments,
    targets: new Targets(o),
    policy,
    placements,
    waitingPods: o.waitingPods,
    crd,
    specs: new SpecMemory(),
    labelWrites: new LabelWrites(() => o.feed.passes[0]?.pass ?? 0),
    statuses: new StatusWriter({ client, resource: TRAFFIC_WATCHES, fieldManager: FIELD_MANAGER, objects: watches }),
  };
}

function writersOf(o: TrafficWatchControllerOptions, sources: Sources, placements: PodPlacements): Writers {
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
    placements,
  };
}

/** Creates the controller of TrafficWatches and the controller that removes orphaned labels. */
export function createTrafficWatchControllers(o: TrafficWatchControllerOptions): TrafficWatchControllers {
  const crd = new CrdCheck(o);
  const nodeOf: NodeLookup = (name) => o.nodes.lister.get(name);
  const demands = new Demands(nodeOf);
  const needOf = (key: string): ReadingNeed | undefined => {
    const watch = o.watches.lister.get(key);
    return watch && readingNeedOf(watch, nodeOf);
  };
  o.feed.follow(demands);
  const memory = {
    limits: new WatchLimits(o.limits, needOf),
    labelTimes: new LabelTimes(() => demands.holds),
    passMemory: new PassMemory(() => o.feed.windowMs, demands),
  };
  const watches = createOverlay(o.watches, o);
  const changed = (keys: readonly string[]): void => {
    for (const key of keys.filter((each) => memory.limits.within.has(each))) main.queue.add(key);
  };
  const placements = placementsOf(o, watches, changed);
  const policy = new PolicyCheck(o);
  const sources = sourcesOf(o, { watches, placements, policy, crd }, memory);
  const writers = writersOf(o, sources, placements);
  const { logger, metrics, clock, watchMetrics } = o;
  const podRejections = new PodRejections({ endedPods: o.endedPods.lister, events: o.events });
  const podEvictions = new PodEvictions({ nodes: o.nodes.lister, events: o.events, clock: o.clock });
  const dependencies = {
    sources,
    writers,
    podRejections,
    podEvictions,
    events: o.events,
    logger,
    isLeader: o.isLeader,
  };
  const passWork = new PassWork(clock, watchMetrics);
  const decideWatch: Reconcile = (key, signal) => reconcile({ ...dependencies, metrics: watchMetrics }, key, signal);
  const main = new Controller({
    name: 'trafficwatch',
    reconcile: decideWatch,
    workers: WORKERS,
    reconcileTimeoutMs: RECONCILE_TIMEOUT_MS,
    onIdle: () => passWork.ended(),
    logger,
    metrics,
    clock,
  });
  const beyond = new Controller({ name: 'trafficwatchbeyond', reconcile: decideWatch, logger, metrics, clock });
  const placer = new Controller({
    name: 'podplacement',
    reconcile: async (namespace) => {
      // An empty cache must mean that there are no TrafficWatches, not that they were not read yet.
      if (!o.watches.synced) return { requeueAfterMs: NOT_SYNCED_MS };
      if (o.isLeader()) await placements.sync(namespace);
      return undefined;
    },
    workers: PLACERS,
    logger,
    metrics,
    clock,
  });
  const enqueuePlacements = followPlacements({ ...o, queue: placer.queue, changed });
  const mayWrite = (): boolean => o.watches.synced && o.nodes.synced && !crd.isInTheWay;
  const sweeper = new Controller({
    name: 'orphanedlabels',
    reconcile: () => sweepOrphans({ sources, writers, synced: mayWrite, isLeader: o.isLeader, logger }),
    workers: 1,
    logger,
    metrics,
    clock,
  });
  const paced = new PacedQueue(sweeper.queue, clock);
  const enqueueAll = subscribe(
    o,
    sources,
    { decided: main.queue, beyond: beyond.queue },
    {
      sweep: () => paced.add(SWEEP),
      passWork,
      demands,
      ...memory,
      nodeLabels: writers.nodeLabels,
      podEvictions,
      metrics: watchMetrics,
    },
  );
  const everything = (): void => {
    enqueueAll();
    enqueuePlacements();
  };
  const controllers = [main, beyond, sweeper, placer];
  return { controllers, crd, enqueueAll: everything, webhookReady: () => policy.webhookReady() };
}
