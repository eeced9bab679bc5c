import type { V1Pod } from '@kubernetes/client-node';
import type { CachedNode } from '../../../nodes/cachedNode.ts';
import type { Lister } from '../../../runtime/cache/informer.ts';
import type { Client } from '../../../runtime/client/client.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { PODS } from '../../../runtime/client/resources.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { podsSelectedBy } from '../../contract/labels.ts';
import type { StackPlan } from '../decide/plan.ts';
import { noneIfUnread, withAnswers } from './events.ts';
import { withLostNodes } from './nodes.ts';
import type { Observation, StackPod } from './observation.ts';
import { RecentCalls } from './recentCalls.ts';
import { trimPod } from './stackPod.ts';

/** Pods of one answer: 500 of node-exporter are about 3 MB. A DaemonSet may have one on each of 10,000 nodes. */
const LIMIT = 500;
/** Of pods whose containers have not all begun. */
const NOT_RUNNING = 'status.phase!=Running';

/**
 * Reads the pods of one workload, at most once in 5 s. For those that have no label of a stack, and so are in no cache: a watch would keep
 * one pod of each node in memory, which is of use only while some are not available.
 */
export class PodReader {
  readonly #client: Pick<Client, 'list'>;
  /** By the uid and the generation of the workload: pods of an older spec say nothing about the present one. */
  readonly #recent: RecentCalls<readonly StackPod[]>;

  constructor({ client, clock }: { readonly client: Pick<Client, 'list'>; readonly clock: Pick<Clock, 'monotonic'> }) {
    this.#client = client;
    this.#recent = new RecentCalls(clock);
  }

  /**
   * The pods of a Deployment, StatefulSet or DaemonSet. Of more than 500 only the first 500 by name, and 500 of those that do not run yet.
   * None if they cannot be read, which only makes a message shorter.
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
      .catch(noneIfUnread);
  }
}

/** The observation with the pods that the plan asks for. Undefined if it asks for none. */
export async function withPods(
  observation: Observation,
  { unread }: Pick<StackPlan, 'unread'>,
  reader: Pick<PodReader, 'read'>,
  nodes: Pick<Lister<CachedNode>, 'get'>,
): Promise<Observation | undefined> {
  return withAnswers(observation, unread, async (workload) => ({
    ...{ pods: withLostNodes(await reader.read(workload), nodes), arePodsRead: true },
  }));
}

/**
 * Whether a workload has made a pod: anybody may give a pod its labels. That of a Deployment is of a ReplicaSet, which has the name of the
 * Deployment and the hash of the template, so that no ReplicaSet has to be read.
 */
function isPodOf({ metadata }: V1Pod, workload: KubeObject): boolean {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return false;
  if (workload.kind !== 'Deployment') return owner.uid === workload.metadata?.uid;
  const hash = metadata?.labels?.['pod-template-hash'] ?? '';
  return owner.kind === 'ReplicaSet' && owner.name === `${workload.metadata?.name}-${hash}`;
}
