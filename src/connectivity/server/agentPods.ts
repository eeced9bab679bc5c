import type { V1Pod } from '@kubernetes/client-node';
import { createInformer, type Informer, type InformerOptions } from '../../runtime/cache/informer.ts';
import { PODS } from '../../runtime/client/resources.ts';
import type { ExpectedPods } from './api.ts';
import type { PodLookup } from './auth/decide.ts';

/** The labels by which the original server finds its agents, in all namespaces. */
const AGENTS_SELECTOR = 'app in (netchecker-agent,netchecker-agent-hostnet)';

/** The informer of the agents' pods. */
export function createAgentPodInformer(
  options: Pick<InformerOptions<V1Pod>, 'transport' | 'logger' | 'metrics'>,
): Informer<V1Pod> {
  return createInformer<V1Pod>({ ...options, resource: PODS, labelSelector: AGENTS_SELECTOR, transform: trimPod });
}

/**
 * The pods that must report: Running, and not being deleted. The original server also expected reports of pods that
 * wait for a node or for an image, and of pods that had ended.
 */
export function expectedPods({ synced, refusal, lister }: Informer<V1Pod>): ExpectedPods {
  if (!synced) return { problem: refusal?.detail ?? 'the pods of the agents are not read yet' };
  const running = lister.list().filter(({ metadata, status }) => isExpected(metadata, status));
  return { pods: running.map(({ metadata }) => metadata?.name ?? '') };
}

function isExpected(metadata: V1Pod['metadata'], status: V1Pod['status']): boolean {
  return status?.phase === 'Running' && metadata?.deletionTimestamp === undefined;
}

/** The node of an agent's pod; undefined if the pod is not known. Agents have different names in all namespaces. */
export function nodeOfPod({ lister }: Informer<V1Pod>, name: string): string | undefined {
  return lister.list().find(({ metadata }) => metadata?.name === name)?.spec?.nodeName;
}

/** What the informer knows of a pod of an agent, to compare a token with it. */
export function podLookup({ synced, lister }: Informer<V1Pod>, namespace: string, name: string): PodLookup {
  if (!synced) return 'unread';
  const pod = lister.get(`${namespace}/${name}`);
  return pod && { uid: pod.metadata?.uid ?? '', node: pod.spec?.nodeName };
}

/** Keeps what the server reads. */
function trimPod({ apiVersion, kind, metadata, spec, status }: V1Pod): V1Pod {
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata ?? {};
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    spec: { containers: [], ...(spec?.nodeName !== undefined && { nodeName: spec.nodeName }) },
    status: { ...(status?.phase !== undefined && { phase: status.phase }) },
  };
}
