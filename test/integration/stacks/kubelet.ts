import type { CoreV1Event, V1Pod } from '@kubernetes/client-node';
import { COMPONENT_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import type { Client } from '../../../src/runtime/client/client.ts';
import { ApiError, TransportError } from '../../../src/runtime/client/errors.ts';
import { resourcePath, type Resource } from '../../../src/runtime/client/resource.ts';
import { NODES, PODS } from '../../../src/runtime/client/resources.ts';
import type { Transport } from '../../../src/runtime/client/transport.ts';
import type { ControlPlane } from '../../harness/controlPlane.ts';
import { sleep } from '../../harness/measured.ts';
import { connect } from '../../harness/runtimeScene.ts';

/** The node of all pods. */
export const NODE = 'n1';
/** Events of the older API, which the kubelet uses. */
const CORE_EVENTS: Resource<CoreV1Event> = {
  ...{ group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true },
};

/** The fault that keeps the pods of a component from getting ready: the state of their container. */
export interface Fault {
  /** The reason of a container that waits. Absent: it runs, and is not ready. */
  readonly reason?: string;
  readonly message?: string;
  /** The exit code of its last run. */
  readonly exitCode?: number;
  readonly restarts?: number;
  /** A warning about the pod. */
  readonly event?: { readonly reason: string; readonly message: string };
}

const PERIOD_MS = 100;
const BEAT_MS = 500;

/**
 * Reports as a kubelet does that the pods of its node are ready, or why they are not, without running them. All else is done by the
 * real controllers of Kubernetes.
 */
export class Kubelet {
  /** By component; of a built-in one, whose pods have no label of it, by the name of its workload. */
  readonly faults = new Map<string, Fault>();
  /** By image, or by image and pod: `db:1 of db-0`. */
  readonly brokenImages = new Map<string, Fault>();
  /** Nodes that are off: nobody reports on their pods, or ends them. */
  readonly off = new Set<string>();
  /** Nodes that send heartbeats, unless they are off. Of others, the node controller knows nothing. */
  readonly beating = new Set<string>();
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #stop = new AbortController();
  /** Uids of pods with a warning. */
  readonly #warned = new Set<string>();
  #beatAt = 0;
  readonly #running: Promise<void>;

  constructor(plane: ControlPlane) {
    const { client, transport } = connect(plane);
    this.#client = client;
    this.#transport = transport;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#transport.close();
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const pods = await this.#client.list(PODS).catch(() => []);
      const own = pods.filter(({ spec }) => spec?.nodeName !== undefined && !this.off.has(spec.nodeName));
      await Promise.all(own.map((pod) => this.#attend(pod).catch(tryAgain)));
      await this.#beat();
      await sleep(PERIOD_MS);
    }
  }

  async #beat(): Promise<void> {
    if (performance.now() - this.#beatAt < BEAT_MS) return;
    this.#beatAt = performance.now();
    const on = [...this.beating].filter((name) => !this.off.has(name));
    await Promise.all(on.map((name) => setReady(this.#client, name, 'True').catch(tryAgain)));
  }

  async #attend(pod: V1Pod): Promise<void> {
    const { name = '', namespace = '', labels = {}, deletionTimestamp, uid = '' } = pod.metadata ?? {};
    const ref = { name, namespace };
    // After the time that it has to end; an API server that is killed may have done only the first half of a deletion.
    if (deletionTimestamp !== undefined) {
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0, preconditions: { uid } };
      await this.#transport.request({ method: 'DELETE', path: resourcePath(PODS, ref), body });
      return;
    }
    const image = pod.spec?.containers[0]?.image ?? '';
    const broken = this.brokenImages.get(image) ?? this.brokenImages.get(`${image} of ${name}`);
    const of = labels[COMPONENT_LABEL] ?? labels.app ?? labels['app.kubernetes.io/name'] ?? '';
    const fault = this.faults.get(of) ?? broken;
    if (isAsWanted(pod, fault)) return;
    const status = statusOf(pod, fault);
    await this.#client.mergePatch(PODS, ref, { status }, { fieldManager: 'kubelet', subresource: 'status' });
    if (fault?.event !== undefined) await this.#warn(pod, fault.event);
  }

  async #warn({ metadata }: V1Pod, { reason, message }: NonNullable<Fault['event']>): Promise<void> {
    const { name = '', namespace = '', uid = '' } = metadata ?? {};
    if (this.#warned.has(uid)) return;
    const now = new Date();
    await this.#client.create(CORE_EVENTS, {
      metadata: { namespace, name: `${name}.${reason.toLowerCase()}` },
      involvedObject: { kind: 'Pod', namespace, name, uid },
      ...{ type: 'Warning', reason, message, count: 1, firstTimestamp: now, lastTimestamp: now },
      source: { component: 'kubelet', host: NODE },
    });
    this.#warned.add(uid);
  }
}

function isAsWanted({ status }: V1Pod, fault: Fault | undefined): boolean {
  const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
  const [container] = status?.containerStatuses ?? [];
  if (fault === undefined) return isReady;
  return container !== undefined && !isReady && container.state?.waiting?.reason === fault.reason;
}

function statusOf({ spec }: V1Pod, fault: Fault | undefined) {
  const [container] = spec?.containers ?? [];
  const { name, image = '' } = container ?? { name: '' };
  const ready = fault === undefined;
  const now = new Date().toISOString();
  const condition = (type: string) => ({ type, status: ready ? 'True' : 'False', lastTransitionTime: now });
  const isRunning = fault?.reason === undefined;
  const { reason, message, exitCode, restarts = 0 } = fault ?? {};
  const running = { running: { startedAt: now }, waiting: null };
  const state = isRunning ? running : { waiting: { reason, message }, running: null };
  const lastState = exitCode === undefined ? {} : { terminated: { exitCode, reason: 'Error', finishedAt: now } };
  return {
    phase: isRunning ? 'Running' : 'Pending',
    ...{ hostIP: '192.0.2.1', podIP: '192.0.2.2', startTime: now },
    conditions: [condition('Ready'), condition('ContainersReady'), { ...condition('PodScheduled'), status: 'True' }],
    containerStatuses: [
      { name, image, imageID: '', ready, restartCount: restarts, started: isRunning, state, lastState },
    ],
  };
}

/** Sets the condition Ready of a Node, as its kubelet does, or with Unknown the node controller when it hears nothing of it. */
export async function setReady(client: Client, name: string, status: 'True' | 'Unknown'): Promise<void> {
  const before = (await client.get(NODES, { name })).status?.conditions?.find(({ type }) => type === 'Ready');
  const now = new Date().toISOString();
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
  const reason = status === 'True' ? 'KubeletReady' : 'NodeStatusUnknown';
  const ready = { type: 'Ready', status, reason, message: '', lastHeartbeatTime: now, lastTransitionTime };
  const options = { fieldManager: 'kubelet', subresource: 'status' };
  await client.mergePatch(NODES, { name }, { status: { conditions: [ready] } }, options);
}

/** Sets the address of NODE, as its kubelet does. */
export async function setAddress(client: Client, ip: string): Promise<void> {
  const addresses = [
    { type: 'Hostname', address: NODE },
    { type: 'InternalIP', address: ip },
  ];
  const options = { fieldManager: 'kubelet', subresource: 'status' };
  await client.mergePatch(NODES, { name: NODE }, { status: { addresses } }, options);
}

/** The pod is gone or changed, or the API server is. */
function tryAgain(error: unknown): void {
  if (!(error instanceof ApiError) && !(error instanceof TransportError)) throw error;
}
