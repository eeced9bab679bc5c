import type { V1Pod } from '@kubernetes/client-node';
import type { Client } from '../../../src/runtime/client/client.ts';
import { PODS } from '../../../src/runtime/client/resources.ts';

const KUBELET = { fieldManager: 'kubelet', subresource: 'status' };

/** Reports every pod of a namespace as running and ready, as a kubelet would. Returns what ends it. */
export function startFakeKubelet(client: Client, namespace: string): () => Promise<void> {
  const state = { isOver: false };
  const report = async (pod: V1Pod): Promise<void> => {
    if (pod.status?.conditions?.some(({ type }) => type === 'Ready') === true) return;
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    const ref = { namespace, name: pod.metadata?.name ?? '' };
    // The pod may be deleted meanwhile.
    await client.mergePatch(PODS, ref, { status }, KUBELET).catch(() => undefined);
  };
  const work = async (): Promise<void> => {
    while (!state.isOver) {
      // An API server that does not answer is asked again.
      for (const pod of await client.list(PODS, { namespace }).catch(() => [])) await report(pod);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  const running = work();
  return async () => {
    state.isOver = true;
    await running;
  };
}
