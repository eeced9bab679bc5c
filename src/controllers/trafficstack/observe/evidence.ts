import type { EventsV1Event, V1Pod } from '@kubernetes/client-node';
import type { CachedNode } from '../../../nodes/cachedNode.ts';
import type { Lister } from '../../../runtime/cache/informer.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { ApiError, TransportError } from '../../../runtime/client/errors.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { EVENTS, PODS } from '../../../runtime/client/resources.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { podsSelectedBy } from '../../contract/labels.ts';
import type {
  MissingEvidence,
  Observation,
  ObservedComponent,
  EventQuery,
  SeenEvent,
  StackPod,
} from '../model/observation.ts';
import { RecentCalls } from './recentCalls.ts';
import { trimPod, workloadOf } from './stackPod.ts';

/**
 * Reads the Events about one object, at most once in 5 s. A watch would make the API server decode every Event of the cluster, which it does not
 * cache.
 */
export class EventReader {
  readonly #client: Pick<Client, 'list'>;
  /** Events by uid of their object. */
  readonly #recent: RecentCalls<readonly SeenEvent[]>;

  /** The only namespace whose Events may be read; undefined: the Events of every namespace. */
  readonly #only: string | undefined;

  constructor({
    client,
    clock,
    only,
  }: {
    readonly client: Pick<Client, 'list'>;
    readonly clock: Pick<Clock, 'monotonic'>;
    readonly only?: string | undefined;
  }) {
    this.#client = client;
    this.#recent = new RecentCalls(clock);
    this.#only = only;
  }

  /** Returns the Events about an object. Empty if they cannot be read, which only shortens a message. */
  read({ namespace, uid }: EventQuery): Promise<readonly SeenEvent[]> {
    if (this.#only !== undefined && namespace !== this.#only) return Promise.resolve([]);
    return this.#recent.call(uid, async () => {
      const fieldSelector = `regarding.uid=${uid}`;
      const events = await this.#client.list(EVENTS, { namespace, fieldSelector }).catch(noneIfUnreadable);
      return events.map(trimEvent);
    });
  }
}

/** Returns the observation with the requested Events. Undefined if none are requested. */
export async function withEvents(
  observation: Observation,
  { eventQueries }: Pick<MissingEvidence, 'eventQueries'>,
  reader: Pick<EventReader, 'read'>,
): Promise<Observation | undefined> {
  return withEvidence(observation, eventQueries, async (eventQuery) => ({ events: await reader.read(eventQuery) }));
}

/** Returns the observation with further evidence about components. Undefined if none is requested. */
async function withEvidence<Q>(
  observation: Observation,
  asked: ReadonlyMap<string, Q>,
  read: (about: Q) => Promise<Partial<ObservedComponent>>,
): Promise<Observation | undefined> {
  if (asked.size === 0) return undefined;
  const components = [];
  for (const component of observation.components) {
    const about = asked.get(component.spec.name);
    components.push(about === undefined ? component : { ...component, ...(await read(about)) });
  }
  return { ...observation, components };
}

/** Ignores that evidence cannot be read, which only shortens a message. @throws any error of this program */
function noneIfUnreadable(error: unknown): never[] {
  if (error instanceof ApiError || error instanceof TransportError) return [];
  throw error;
}

/** Controllers of Kubernetes write Events of the older API, whose fields have other names. */
function trimEvent(event: EventsV1Event): SeenEvent {
  const { type, reason = '', note = '', series, deprecatedLastTimestamp, metadata } = event;
  const at = series?.lastObservedTime ?? deprecatedLastTimestamp ?? metadata?.creationTimestamp ?? 0;
  return { isWarning: type === 'Warning', reason, message: note, at: Number(new Date(at)) };
}

/** Pods in one answer: 500 of node-exporter are about 3 MB. A DaemonSet may have 10,000. */
const LIMIT = 500;
/** Selects pods with containers that have not started. */
const NOT_RUNNING = 'status.phase!=Running';

/**
 * Reads the pods of one workload, at most once in 5 s, if they have no label of a stack and so are in no cache. A watch would keep a pod of each node
 * in memory, although only unavailable pods matter.
 */
export class PodReader {
  readonly #client: Pick<Client, 'list'>;
  /** Pods by uid and generation of the workload: pods of an older spec say nothing about the present one. */
  readonly #recent: RecentCalls<readonly StackPod[]>;

  constructor({ client, clock }: { readonly client: Pick<Client, 'list'>; readonly clock: Pick<Clock, 'monotonic'> }) {
    this.#client = client;
    this.#recent = new RecentCalls(clock);
  }

  /**
   * Returns the pods of a Deployment, StatefulSet or DaemonSet. Beyond 500, the first 500 by name and 500 that do not run yet. Empty if they cannot
   * be read, which only shortens a message.
   */
  read(workload: KubeObject): Promise<readonly StackPod[]> {
    const { uid, generation } = workload.metadata ?? {};
    return this.#recent.call(`${uid} ${generation}`, async () => {
      const first = await this.#list(workload);
      const others = first.length < LIMIT ? [] : await this.#list(workload, NOT_RUNNING);
      const all = new Map([...first, ...others].map((pod) => [pod.metadata?.uid, pod]));
      return [...all.values()].filter((pod) => isPodOf(pod, workload)).map(trimPod);
    });
  }

  #list(workload: KubeObject, fieldSelector?: string): Promise<V1Pod[]> {
    return this.#client
      .list(PODS, {
        ...podsSelectedBy(workload),
        ...(fieldSelector !== undefined && { fieldSelector }),
        limit: LIMIT,
      })
      .catch(noneIfUnreadable);
  }
}

/** Returns the observation with the requested pods. Undefined if none are requested. */
export async function withPods(
  observation: Observation,
  { podQueries }: Pick<MissingEvidence, 'podQueries'>,
  reader: Pick<PodReader, 'read'>,
  nodes: Pick<Lister<CachedNode>, 'get'>,
): Promise<Observation | undefined> {
  return withEvidence(observation, podQueries, async (workload) => ({
    ...{ pods: withLostNodes(await reader.read(workload), nodes), arePodsRead: true },
  }));
}

/**
 * Returns whether a workload made a pod: anybody may set the labels. The pod of a Deployment belongs to a ReplicaSet named after the Deployment and
 * the hash of the template, so that no ReplicaSet must be read.
 */
function isPodOf({ metadata }: V1Pod, workload: KubeObject): boolean {
  if (workload.kind === 'Deployment') return workloadOf(metadata) === `Deployment ${workload.metadata?.name}`;
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true);
  return owner !== undefined && owner.uid === workload.metadata?.uid;
}

/** Adds the node to each pod whose node is not Ready. A pod whose containers have all ended does not need its node. */
export function withLostNodes(pods: readonly StackPod[], nodes: Pick<Lister<CachedNode>, 'get'>): readonly StackPod[] {
  return pods.map((pod) => {
    const { nodeName: name, containers } = pod;
    const since = name === undefined ? undefined : nodes.get(name)?.notReadySince;
    const hasEnded = containers.length > 0 && containers.every(({ ended }) => ended !== undefined);
    return name === undefined || since === undefined || hasEnded ? pod : { ...pod, lostNode: { name, since } };
  });
}
