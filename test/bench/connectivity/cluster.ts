import type { V1Pod } from '@kubernetes/client-node';
import { CONNECTIVITY_CHECKS } from '../../../src/api/connectivitycheck/connectivityCheck.ts';
import { AGENT_NAME, HOST_AGENT_NAME } from '../../../src/connectivity/objects/names.ts';
import type { Client } from '../../../src/runtime/client/client.ts';
import { NODES, PODS } from '../../../src/runtime/client/resources.ts';
import { inParallel } from '../../harness/inParallel.ts';
import { nodeObject } from '../nodeObjects.ts';
import { nodeName } from '../shape.ts';
import type { SimulatedAgent } from './reportBody.ts';

const NAMESPACE = 'default';

/** The agents of a cluster: two on each node. */
export function agentsOf(nodes: number): SimulatedAgent[] {
  return Array.from({ length: nodes }, (_, index) => {
    const node = nodeName(index);
    const block = `${index >> 8}.${index & 255}`;
    return [
      { pod: `${AGENT_NAME}-${index}`, node, plane: 'Pod', address: `198.19.${block}` } as const,
      { pod: `${HOST_AGENT_NAME}-${index}`, node, plane: 'Host', address: `198.18.${block}` } as const,
    ];
  }).flat();
}

/** Creates nodes with the running pods of their agents, and a check of all of them. */
export async function createCluster(client: Client, nodes: number, interval: string): Promise<void> {
  const indexes = Array.from({ length: nodes }, (_, index) => index);
  await inParallel(indexes, (index) => client.create(NODES, nodeObject(index)));
  await inParallel(agentsOf(nodes), (agent) => createPod(client, agent));
  await client.create(CONNECTIVITY_CHECKS, { metadata: { name: 'default' }, spec: { interval } });
}

/** The running pod of an agent. */
export async function createPod(client: Client, { pod, node, plane, address }: SimulatedAgent): Promise<void> {
  const app = plane === 'Host' ? HOST_AGENT_NAME : AGENT_NAME;
  const object: V1Pod = {
    metadata: { name: pod, namespace: NAMESPACE, labels: { app } },
    spec: { nodeName: node, hostNetwork: plane === 'Host', containers: [{ name: 'agent', image: 'agent' }] },
  };
  await client.create(PODS, object);
  const status = {
    phase: 'Running',
    podIP: address,
    podIPs: [{ ip: address }],
    startTime: new Date().toISOString(),
    containerStatuses: [
      {
        name: 'agent',
        image: 'agent',
        imageID: '',
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: new Date().toISOString() } },
      },
    ],
  };
  const where = { namespace: NAMESPACE, name: pod };
  await client.mergePatch(PODS, where, { status }, { fieldManager: 'bench', subresource: 'status' });
}
