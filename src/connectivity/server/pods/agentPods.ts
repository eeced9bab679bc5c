import type { V1Pod } from '@kubernetes/client-node';
import { createInformer, type Informer, type InformerOptions } from '../../../runtime/cache/informer.ts';
import { PODS } from '../../../runtime/client/resources.ts';
import type { PodLookup } from '../auth/decide.ts';
import type { ExpectedPods } from '../api/check.ts';
import { trimPod } from './trimPod.ts';

/** The labels by which the original server finds its agents, in all namespaces. */
const AGENTS_SELECTOR = 'app in (netchecker-agent,netchecker-agent-hostnet)';
/** Agents report by name. */
const BY_NAME = 'name';

/** The informer of the agents' pods. */
export function createAgentPodInformer(
  options: Pick<InformerOptions<V1Pod>, 'transport' | 'logger' | 'metrics'>,
): Informer<V1Pod> {
  const indexes = { [BY_NAME]: ({ metadata }: V1Pod) => [metadata?.name ?? ''] };
  return createInformer<V1Pod>({
    ...options,
    resource: PODS,
    labelSelector: AGENTS_SELECTOR,
    transform: trimPod,
    indexes,
  });
}

/**
 * The pods that must report: Running, and not being deleted. The original server also expected reports of pods that
 * wait for a node or for an image, and of pods that had ended. While the watch is refused, the cache is stale: nothing is
 * said of pods then.
 */
export function expectedPods({ synced, refusal, lister }: Informer<V1Pod>): ExpectedPods {
  if (refusal !== undefined) return { problem: refusal.detail };
  if (!synced) return { problem: 'the pods of the agents are not read yet' };
  return { pods: lister.list().flatMap((pod) => (isExpected(pod) ? [pod.metadata?.name ?? ''] : [])) };
}

/** Whether a pod must report. Its cost does not depend on the number of agents. */
export function isExpectedPod({ lister }: Informer<V1Pod>, name: string): boolean {
  return lister.byIndex(BY_NAME, name).some(isExpected);
}

function isExpected({ metadata, status }: V1Pod): boolean {
  return status?.phase === 'Running' && metadata?.deletionTimestamp === undefined;
}

/** The node of an agent's pod; undefined if the pod is not known. Agents have different names in all namespaces. */
export function nodeOfPod({ lister }: Informer<V1Pod>, name: string): string | undefined {
  return lister.byIndex(BY_NAME, name)[0]?.spec?.nodeName;
}

/** What the informer knows of a pod of an agent, to compare a token with it. */
export function podLookup({ synced, lister }: Informer<V1Pod>, namespace: string, name: string): PodLookup {
  if (!synced) return 'unread';
  const pod = lister.get(`${namespace}/${name}`);
  return pod && { uid: pod.metadata?.uid ?? '', node: pod.spec?.nodeName };
}
