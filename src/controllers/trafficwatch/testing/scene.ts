import type { V1Deployment } from '@kubernetes/client-node';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { trimNode, type CachedNode } from '../../../nodes/cachedNode.ts';
import { UnmeasuredNodes } from '../../../nodes/unmeasuredNodes.ts';
import { Applier } from '../../../runtime/apply/apply.ts';
import type { CallOptions, Client } from '../../../runtime/client/client.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { EventRecorder } from '../../../runtime/controller/events.ts';
import { applyMergePatch } from '../../../runtime/apply/mergePatch.ts';
import {
  keyOf,
  resourcePath,
  type KubeObject,
  type ObjectRef,
  type Resource,
} from '../../../runtime/client/resource.ts';
import { Store } from '../../../runtime/cache/store.ts';
import { createOverlay, type OverlaidCache } from '../../../runtime/cache/overlay.ts';
import { StatusWriter } from '../../../runtime/status/statusWriter.ts';
import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import type { Writers } from '../act/act.ts';
import { LabelWrites } from '../act/labelWrites.ts';
import { createTrafficWatchMetrics } from '../metrics.ts';
import { NodeLabelWriter } from '../act/nodeLabelWriter.ts';
import { BY_LABEL_KEY, claimedKeys, type Sources } from '../observe/observe.ts';
import { PassViews } from '../observe/passViews.ts';
import type { Dependencies } from '../reconcile.ts';
import { failedPodIndexes, PodRejections, type FailedPod } from '../act/rejectedPods.ts';
import { aWatch, NOW, pass } from './observations.ts';

const MANAGER = 'test';

/** One call of the scene's client. */
export interface Call {
  readonly verb: 'get' | 'create' | 'apply' | 'patch';
  /** 'Node', 'TrafficWatch/status' */
  readonly what: string;
  readonly name: string;
  readonly body?: unknown;
  readonly options?: CallOptions | undefined;
}

/** Everything that a reconcile works with, on a clock and an API server that a test moves. */
export interface Scene extends Dependencies {
  readonly clock: FakeClock;
  readonly registry: Registry;
  readonly watches: Store<TrafficWatch>;
  readonly nodes: Store<CachedNode>;
  readonly failedPods: Store<FailedPod>;
  readonly calls: Call[];
  /** What events said: [type, reason]. */
  readonly told: [string, string][];
  readonly feed: { passes: readonly Snapshot[]; startedAt: number };
  readonly sources: Sources;
  /** What the CRD lacks, and what is said of it. */
  readonly crd: {
    problem: string | undefined;
    drops: () => Promise<boolean>;
    forget: () => void;
    looked: () => Promise<void>;
  };
  readonly writers: Writers;
  leader: boolean;
  /** Asked before each call is answered; what it returns is thrown. */
  refuse: (call: Call) => Error | undefined;
  /** Asked before each call is answered; one for which it is true gets no answer until its signal is aborted. */
  hangs: (call: Call) => boolean;
}

/** Has some calls get no answer; returns how many of them are under way. */
export function hangOn(scene: Scene, which: (call: Call) => boolean): () => number {
  scene.hangs = which;
  return () => scene.calls.filter((call) => which(call) && call.options?.signal?.aborted !== true).length;
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(signal?.reason as Error);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

/** The API server's no to a call. */
export function refusal(call: Call, status: number, reason: string, detail = ''): ApiError {
  const path = `/apis/traffic.example.com/v1alpha1/namespaces/shop/trafficwatches/${call.name}`;
  return new ApiError({ status, reason, detail, method: 'PATCH', path: call.what === 'Node' ? '/api/v1/nodes' : path });
}

/** The writes among the calls, as 'patch Node'. */
export function writesOf(scene: Scene): string[] {
  return scene.calls.filter((call) => call.verb !== 'get').map((call) => `${call.verb} ${call.what}`);
}

/** A node as the cache has it; `owned` are the label keys that the operator wrote. */
export function aNode(name: string, labels: Record<string, string> = {}, owned: readonly string[] = []): CachedNode {
  const metadata = { name, resourceVersion: '1' };
  return { metadata, name, createdAt: 0, labels, ownedKeys: owned, addresses: [] };
}

/** A client that answers what a real one would, as far as the objects are in the stores. */
function sceneClient(scene: Pick<Scene, 'calls' | 'refuse' | 'hangs' | 'watches' | 'nodes'>): Client {
  let version = 1000;
  const answer = <T>(call: Call, make: () => T): Promise<T> => {
    scene.calls.push(call);
    if (scene.hangs(call)) return aborted(call.options?.signal);
    const error = scene.refuse(call);
    return error ? Promise.reject(error) : Promise.resolve(make());
  };
  const versioned = <T extends KubeObject>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, resourceVersion: String(++version) },
  });
  const whole = (kind: string, ref: ObjectRef): KubeObject =>
    kind === 'TrafficWatch' ? scene.watches.get(keyOf({ metadata: ref }))! : { metadata: ref };
  const absent = (resource: Resource, ref: ObjectRef) =>
    new ApiError({ status: 404, reason: 'NotFound', method: 'GET', path: resourcePath(resource, ref) });
  return {
    get: (resource, ref, options) =>
      answer({ verb: 'get', what: resource.kind, name: ref.name, options }, () => {
        throw absent(resource, ref);
      }),
    apply: (resource, object, options) => {
      const name = object.metadata?.name ?? '';
      return answer({ verb: 'apply', what: resource.kind, name, body: object, options }, () => versioned(object));
    },
    mergePatch: (resource, ref, body, options) => {
      const what = [resource.kind, options.subresource].filter((part) => part !== undefined).join('/');
      const patched = () => versioned(applyMergePatch(whole(resource.kind, ref), body) as KubeObject);
      return answer({ verb: 'patch', what, name: ref.name, body, options }, patched) as Promise<never>;
    },
    list: () => Promise.reject(new Error('nothing is listed here')),
    create: (resource, object, options) => {
      const name = object.metadata?.name ?? '';
      const managedFields = [{ manager: MANAGER, operation: 'Apply', fieldsV1: {} }];
      const made = { ...object, metadata: { ...object.metadata, managedFields } };
      return answer({ verb: 'create', what: resource.kind, name, body: object, options }, () => versioned(made));
    },
    delete: () => Promise.reject(new Error('nothing is deleted here')),
  };
}

/** A cache that tells of no change: what a test puts into the store is there. */
function cacheOf<T extends KubeObject>(lister: Store<T>): OverlaidCache<T> {
  return { lister, subscribe: () => () => undefined };
}

function sourcesOf(scene: Pick<Scene, 'clock' | 'feed' | 'watches' | 'nodes' | 'crd'>, client: Client): Sources {
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
    unmeasured: new UnmeasuredNodes({ client, clock, nodes }),
    deployments: createOverlay(cacheOf(new Store<V1Deployment>()), { clock, includeCreated: true }),
    deploymentsRefusal: () => undefined,
    labelWrites: new LabelWrites(() => feed.passes[0]?.pass ?? 0),
    statuses: new StatusWriter({ client, resource: TRAFFIC_WATCHES, fieldManager: MANAGER, objects: watches }),
    crd,
  };
}

function writersOf(client: Client, sources: Sources): Writers {
  const common = { client, fieldManager: MANAGER };
  return {
    ...common,
    applier: new Applier({ ...common, clock: sources.clock, logger: pino({ level: 'silent' }) }),
    nodeLabels: new NodeLabelWriter({
      ...common,
      trim: trimNode(MANAGER),
      nodes: sources.nodes,
      labels: sources.labelWrites,
    }),
    watches: sources.watches,
    statuses: sources.statuses,
    deployments: sources.deployments,
  };
}

/**
 * Leads, with the TrafficWatch shop/web, the nodes n1 (fit) and n2 (unfit) without labels, and two passes that agree.
 * @param real a client that is used instead of one over the scene's stores
 */
export function aScene(real?: Client): Scene {
  const percents = { n1: 1, n2: 50 };
  const registry = new Registry();
  const base = {
    clock: new FakeClock(NOW),
    registry,
    watches: new Store<TrafficWatch>({ [BY_LABEL_KEY]: claimedKeys }),
    nodes: new Store<CachedNode>(),
    failedPods: new Store<FailedPod>(failedPodIndexes),
    calls: [] as Call[],
    told: [] as [string, string][],
    feed: { passes: [pass(2, percents), pass(1, percents)], startedAt: NOW - 300_000 } as Scene['feed'],
    crd: {
      problem: undefined,
      drops: () => Promise.resolve(false),
      forget: () => undefined,
      looked: () => Promise.resolve(),
    },
    leader: true,
    refuse: (() => undefined) as Scene['refuse'],
    hangs: (() => false) as Scene['hangs'],
    metrics: createTrafficWatchMetrics(registry),
    logger: pino({ level: 'silent' }),
  };
  base.watches.set(aWatch());
  for (const name of ['n1', 'n2']) base.nodes.set(aNode(name));
  const event = (_about: KubeObject, type: string, reason: string): void => void base.told.push([type, reason]);
  const client = real ?? sceneClient(base);
  const sources = sourcesOf(base, client);
  const events = { event } as unknown as EventRecorder;
  return Object.assign(base, {
    sources,
    writers: writersOf(client, sources),
    events,
    podRejections: new PodRejections({ ...base, events }),
    isLeader: () => base.leader,
  });
}
