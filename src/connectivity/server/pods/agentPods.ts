import { createInformer, type Informer, type InformerOptions } from '../../../runtime/cache/informer.ts';
import type { KubeObject, Resource } from '../../../runtime/client/resource.ts';
import { PODS } from '../../../runtime/client/resources.ts';
import type { PodLookup } from '../auth/decide.ts';
import type { ExpectedPods } from '../api/check.ts';
import { toAgentPod, type AgentPod } from './agentPod.ts';

/** The labels by which the original server finds its agents, in all namespaces. */
const AGENTS_SELECTOR = 'app in (netchecker-agent,netchecker-agent-hostnet)';
/** Pods per page: any user may give large pods these labels, and 10,000 nodes have 20,000 agents. */
const PAGE_SIZE = 100;
/** Agents report by name. */
const BY_NAME = 'name';

/**
 * The informer of the agents' pods, trimmed.
 *
 * @param accounts ServiceAccounts whose pods may report, as NAMESPACE/NAME; empty: all
 */
export function createAgentPodInformer(
  options: Pick<InformerOptions<KubeObject>, 'transport' | 'logger' | 'metrics'>,
  accounts: readonly string[],
): Informer<AgentPod> {
  return createInformer<AgentPod>({
    ...options,
    resource: PODS as Resource as Resource<AgentPod>,
    labelSelector: AGENTS_SELECTOR,
    transform: (pod: KubeObject) => toAgentPod(pod, accounts),
    pageSize: PAGE_SIZE,
    indexes: { [BY_NAME]: ({ name }) => [name] },
  });
}

/** The pods that must report. While the watch is refused, the cache is stale: nothing is said of pods then. */
export function expectedPods({ synced, refusal, lister }: Informer<AgentPod>): ExpectedPods {
  if (refusal !== undefined) return { problem: refusal.detail };
  if (!synced) return { problem: 'the pods of the agents are not read yet' };
  return { pods: lister.list().flatMap(({ mustReport, name }) => (mustReport ? [name] : [])) };
}

/** Whether a pod must report. Its cost does not depend on the number of agents. */
export function isExpectedPod({ lister }: Informer<AgentPod>, name: string): boolean {
  return lister.byIndex(BY_NAME, name).some(({ mustReport }) => mustReport);
}

/** The node of an agent's pod; undefined if the pod is not known. */
export function nodeOfPod({ lister }: Informer<AgentPod>, name: string): string | undefined {
  return lister.byIndex(BY_NAME, name).find(({ isListed }) => isListed)?.node;
}

/** The namespaces with a pod of an agent that has the name and has not ended. */
export function namespacesOfName({ lister }: Informer<AgentPod>, name: string): readonly string[] {
  const agents = lister.byIndex(BY_NAME, name).filter(({ isListed, phase }) => isListed && phase !== 'Gone');
  return agents.map(({ metadata }) => metadata?.namespace ?? '');
}

/** Returns the pod of an agent from the informer, to compare a token with it. */
export function podLookup({ synced, lister }: Informer<AgentPod>, namespace: string, name: string): PodLookup {
  if (!synced) return 'unread';
  const pod = lister.get(`${namespace}/${name}`);
  return pod && { uid: pod.metadata?.uid ?? '', node: pod.node === '' ? undefined : pod.node };
}
