import type { V1Deployment } from '@kubernetes/client-node';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { PodPlacement } from '../../../api/podplacement/schema.ts';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { trimNode, type CachedNode } from '../../../nodes/cachedNode.ts';
import { UnmeasuredNodes } from '../../../nodes/unmeasuredNodes.ts';
import { Applier } from '../../../runtime/apply/apply.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import type { EventRecorder } from '../../../runtime/controller/events.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { NODES } from '../../../runtime/client/resources.ts';
import { Store } from '../../../runtime/cache/store.ts';
import { createOverlay, type OverlaidCache } from '../../../runtime/cache/overlay.ts';
import { StatusWriter } from '../../../runtime/status/statusWriter.ts';
import { FakeApi } from '../../../runtime/testing/fakeApi/fakeApi.ts';
import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import type { Writers } from '../act/act.ts';
import { PodPlacements } from '../act/podPlacements.ts';
import { LabelWrites, LabelTimes } from '../observe/labelHistory.ts';
import { createTrafficWatchMetrics } from '../metrics.ts';
import { NodeLabelWriter } from '../act/nodeLabelWriter.ts';
import { isBehind } from '../act/writeCall.ts';
import { claimedKeys } from '../model/labelKeys.ts';
import { BY_NAMESPACE, BY_LABEL_KEY } from '../names.ts';
import type { Sources } from '../observe/observe.ts';
import { NO_READINGS } from '../../../usage/evaluate/reading.ts';
import { PassMemory } from '../observe/passMemory.ts';
import { PassViews } from '../observe/passViews.ts';
import { SpecMemory } from '../observe/crdFields.ts';
import type { Dependencies } from '../reconcile.ts';
import { PodEvictions } from '../act/evictedPods.ts';
import { PodRejections } from '../act/rejectedPods.ts';
import { endedPodIndexes, type EndedPod } from '../observe/workload/endedPods.ts';
import { MirroredStore, wholeNode } from './mirroredStore.ts';
import { aWatch, NOW, pass } from './observations.ts';

const MANAGER = 'test';

/** Everything that a reconcile works with, on a clock and an API server that a test moves. */
export interface Scene extends Dependencies {
  readonly clock: FakeClock;
  /** Records all calls, and answers as an API server unless a test overrides it (refuseOn, hangOn). */
  readonly api: FakeApi;
  readonly registry: Registry;
  /** As `nodes`: what a test puts here is on the API server too. What is written there does not change it. */
  readonly watches: Store<TrafficWatch>;
  readonly nodes: Store<CachedNode>;
  readonly endedPods: Store<EndedPod>;
  /** The recorded events: [type, reason]. */
  readonly told: [string, string][];
  readonly feed: { passes: readonly Snapshot[]; startedAt: number };
  readonly sources: Sources & { readonly placements: PodPlacements };
  /** The fields that the CRD lacks, and the message about them. */
  readonly crd: {
    problem: string | undefined;
    drops: () => Promise<boolean>;
    forget: () => void;
    looked: () => Promise<void>;
    refresh: () => Promise<void>;
  };
  readonly writers: Writers;
  leader: boolean;
}

/** From now on the cache of TrafficWatches follows the API server: it has each change before the writer has the answer. */
export function followWatches({ api, watches }: Scene): void {
  api.watch(TRAFFIC_WATCHES, ({ type, object }) => {
    if (type === 'DELETED') watches.delete(object as TrafficWatch);
    else watches.set(object as TrafficWatch);
  });
}

/** The writes among the calls, as 'patch Node'. */
export function writesOf(scene: Scene): string[] {
  return scene.api.calls
    .filter(({ verb }) => verb !== 'get' && verb !== 'list')
    .map((call) => `${call.verb} ${call.what}`);
}

const NO_LABELS = { keys: [], values: [] };

/** A node as the cache has it; `owned` are the label keys that the operator wrote. */
export function aNode(name: string, labels: Record<string, string> = {}, owned: readonly string[] = []): CachedNode {
  const metadata = { name, resourceVersion: '1' };
  return { metadata, name, createdAt: 0, labels, otherLabels: NO_LABELS, ownedKeys: owned, addresses: [] };
}

/** A cache that tells of no change: what a test puts into the store is there. */
function cacheOf<T extends KubeObject>(lister: Store<T>): OverlaidCache<T> {
  return { lister, subscribe: () => () => undefined };
}

function sourcesOf(
  scene: Pick<Scene, 'clock' | 'feed' | 'watches' | 'nodes' | 'crd'>,
  client: Client,
): Scene['sources'] {
  const { clock, feed, nodes, crd } = scene;
  const watches = createOverlay(cacheOf(scene.watches), { clock });
  const measurementProblems = (): [] => [];
  return {
    client,
    clock,
    feed,
    measurementProblems,
    watches,
    nodes: createOverlay(cacheOf(nodes), { clock }),
    passViews: new PassViews(),
    labelTimes: new LabelTimes(() => true),
    passMemory: new PassMemory(() => 24_000, { readings: NO_READINGS, missing: [] }),
    unmeasured: new UnmeasuredNodes({ client, clock, nodes }),
    deployments: createOverlay(cacheOf(new Store<V1Deployment>()), { clock, includeCreated: true }),
    deploymentsRefusal: () => undefined,
    allowedDeployments: { enabled: true, namespaces: [] },
    targets: {
      targetOf: () => Promise.reject(new Error('the scene has no workloads of others')),
      forget: () => undefined,
    },
    policy: { state: () => Promise.resolve({ reason: 'PolicyInstalled', message: '' }) },
    placements: new PodPlacements({
      clock,
      client,
      applier: new Applier({ client, clock, fieldManager: MANAGER, logger: pino({ level: 'silent' }) }),
      watches,
      placements: createOverlay(cacheOf(new Store<PodPlacement>()), { clock, includeCreated: true }),
      refusal: () => undefined,
      changed: () => undefined,
    }),
    waitingPods: { podsIn: () => ({ pods: [] }) },
    limits: { isBeyond: () => false, problemOf: () => undefined },
    labelWrites: new LabelWrites(() => feed.passes[0]?.pass ?? 0),
    statuses: new StatusWriter({ client, resource: TRAFFIC_WATCHES, fieldManager: MANAGER, objects: watches }),
    crd,
    specs: new SpecMemory(),
  };
}

function writersOf(client: Client, sources: Scene['sources']): Writers {
  const common = { client, clock: sources.clock, fieldManager: MANAGER };
  return {
    ...common,
    applier: new Applier({ ...common, logger: pino({ level: 'silent' }) }),
    nodeLabels: new NodeLabelWriter({
      ...common,
      trim: trimNode(MANAGER),
      nodes: sources.nodes,
      labels: sources.labelWrites,
    }),
    watches: sources.watches,
    statuses: sources.statuses,
    deployments: sources.deployments,
    placements: sources.placements,
  };
}

/**
 * Leads, with the TrafficWatch shop/web, the nodes n1 (fit) and n2 (unfit) without labels, and two passes that agree.
 * @param real a client that is used instead of the scene's API server
 */
export function aScene(real?: Client): Scene {
  const percents = { n1: 1, n2: 50 };
  const registry = new Registry();
  const api = new FakeApi();
  const whole = (node: CachedNode): KubeObject => wholeNode(node, MANAGER);
  const base = {
    api,
    clock: new FakeClock(NOW),
    registry,
    watches: new MirroredStore<TrafficWatch>({
      api,
      resource: TRAFFIC_WATCHES,
      indexes: { [BY_LABEL_KEY]: claimedKeys, [BY_NAMESPACE]: ({ metadata }) => [metadata?.namespace ?? ''] },
    }),
    nodes: new MirroredStore<CachedNode>({ api, resource: NODES, whole }),
    endedPods: new Store<EndedPod>(endedPodIndexes),
    told: [] as [string, string][],
    feed: { passes: [pass(2, percents), pass(1, percents)], startedAt: NOW - 300_000 } as Scene['feed'],
    crd: {
      problem: undefined,
      drops: () => Promise.resolve(false),
      forget: () => undefined,
      looked: () => Promise.resolve(),
      refresh: () => Promise.resolve(),
    },
    leader: true,
    metrics: createTrafficWatchMetrics(registry),
    logger: pino({ level: 'silent' }),
  };
  base.watches.set(aWatch());
  for (const name of ['n1', 'n2']) base.nodes.set(aNode(name));
  const event = (_about: KubeObject, type: string, reason: string): void => void base.told.push([type, reason]);
  const client = real ?? api;
  const sources = sourcesOf(base, client);
  const events = { event } as unknown as EventRecorder;
  return Object.assign(base, {
    sources,
    writers: writersOf(client, sources),
    events,
    podRejections: new PodRejections({ ...base, events }),
    podEvictions: new PodEvictions({ ...base, events }),
    isLeader: () => base.leader,
  });
}

/** Uses the whole allowance of the namespace shop, as TrafficWatches would that change all the time. */
export async function spend({ writers, api }: Scene): Promise<void> {
  const payer = { namespace: 'shop', nodes: 2, urgent: new Set(['n1']) };
  const change = new Map([['n1', { 'other.traffic.example.com/unfit': null }]]);
  const isLeft = async (): Promise<boolean> =>
    !isBehind((await writers.nodeLabels.write(change, undefined, payer)).get('n1'));
  for (let n = 0; n < 5_000 && (await isLeft()); n++);
  api.calls.length = 0;
}
