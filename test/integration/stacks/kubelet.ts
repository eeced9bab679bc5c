import type { V1Pod } from '@kubernetes/client-node';
import { COMPONENT_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import type { Client } from '../../../src/runtime/client/client.ts';
import { isConflict, isNotFound } from '../../../src/runtime/client/errors.ts';
import { PODS } from '../../../src/runtime/client/resources.ts';
import { sleep } from '../../harness/measured.ts';

/** The node of all pods. */
export const NODE = 'n1';

/** What keeps the pods of a component from getting ready: the state of their container. */
export interface Fault {
  readonly reason: string;
  readonly message: string;
}

const PERIOD_MS = 100;

/**
 * Reports as a kubelet does that pods are ready, or why they are not, without running them. All else is done by the real controllers
 * of Kubernetes.
 */
export class Kubelet {
  /** By component. */
  readonly faults = new Map<string, Fault>();
  readonly #client: Client;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(client: Client) {
    this.#client = client;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const pods = await this.#client.list(PODS).catch(() => []);
      await Promise.all(pods.map((pod) => this.#attend(pod).catch(ignoreGone)));
      await sleep(PERIOD_MS);
    }
  }

  async #attend(pod: V1Pod): Promise<void> {
    const { name = '', namespace = '', labels = {} } = pod.metadata ?? {};
    const ref = { name, namespace };
    const fault = this.faults.get(labels[COMPONENT_LABEL] ?? '');
    const status = statusOf(pod, fault);
    if (isAsWanted(pod, fault)) return;
    await this.#client.mergePatch(PODS, ref, { status }, { fieldManager: 'kubelet', subresource: 'status' });
  }
}

function isAsWanted({ status }: V1Pod, fault: Fault | undefined): boolean {
  const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
  const waiting = status?.containerStatuses?.[0]?.state?.waiting?.reason;
  return fault === undefined ? isReady : !isReady && waiting === fault.reason;
}

function statusOf({ spec }: V1Pod, fault: Fault | undefined) {
  const [container] = spec?.containers ?? [];
  const { name, image = '' } = container ?? { name: '' };
  const ready = fault === undefined;
  const now = new Date().toISOString();
  const condition = (type: string) => ({ type, status: ready ? 'True' : 'False', lastTransitionTime: now });
  const state = ready ? { running: { startedAt: now }, waiting: null } : { waiting: fault, running: null };
  return {
    phase: ready ? 'Running' : 'Pending',
    ...{ hostIP: '192.0.2.1', podIP: '192.0.2.2', startTime: now },
    conditions: [condition('Ready'), condition('ContainersReady'), { ...condition('PodScheduled'), status: 'True' }],
    containerStatuses: [{ name, image, imageID: '', ready, restartCount: 0, started: ready, state }],
  };
}

function ignoreGone(error: unknown): void {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}
