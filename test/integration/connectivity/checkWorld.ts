import { readFileSync } from 'node:fs';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { expect, vi } from 'vitest';
import { parse } from 'yaml';
import { CONNECTIVITY_CHECKS } from '../../../src/api/connectivitycheck/connectivityCheck.ts';
import type { PeerResult } from '../../../src/connectivity/protocol/measurement.ts';
import type { Client } from '../../../src/runtime/client/client.ts';
import { NODES } from '../../../src/runtime/client/resources.ts';
import { installCrd } from '../../harness/customResource.ts';
import type { Answer, ConnectivityServer } from './world.ts';

/** Agents whose measurements are made up report to a real server by HTTP. */
const CRD = new URL('../../../deploy/crds/traffic.example.com_connectivitychecks.yaml', import.meta.url);

/** The pod of the agent of a node. */
export const podOf = (node: string): string => `netchecker-agent-${node}`;
export const ipOf = (node: string): string => `198.18.0.1${node.slice(1)}`;

/** Installs the CRD of the checks. */
export async function installChecks(client: Client): Promise<void> {
  const crd = parse(readFileSync(CRD, 'utf8'), { version: '1.1' }) as V1CustomResourceDefinition;
  await installCrd(client, crd, CONNECTIVITY_CHECKS);
}

/** Ready for an hour: it does not join. The API server sets the creation time, which also counts. */
export async function createReadyNode(client: Client, name: string): Promise<void> {
  await client.create(NODES, { metadata: { name } });
  const lastTransitionTime = new Date(Date.now() - 3_600_000).toISOString();
  const condition = { type: 'Ready', status: 'True', reason: 'Test', message: '', lastTransitionTime };
  await client.mergePatch(
    NODES,
    { name },
    { status: { conditions: [condition] } },
    { fieldManager: 'test', subresource: 'status' },
  );
}

/** The result of the agent of a node for another node. */
export function resultOf(node: string, works: boolean): PeerResult {
  const at = { node, address: ipOf(node) };
  if (!works) return { ...at, tcp: { ok: false, error: 'Timeout' }, udp: { sent: 10, received: 0 } };
  return { ...at, tcp: { ok: true, ms: 1 }, udp: { sent: 10, received: 10, ms: 1 } };
}

/** Reports. Waits while the rate of the agent's reports is limited. */
export function post(
  server: ConnectivityServer,
  node: string,
  peers: readonly PeerResult[],
  change: object = {},
): Promise<Answer> {
  const connectivity = { plane: 'Pod', port: 8082, peers, targets: [], heard: {}, ...change };
  const podname = podOf(node);
  const body = JSON.stringify({ report_interval: 60, nodename: node, podname, connectivity });
  const request = { method: 'POST', headers: { accept: 'application/json' }, body };
  return vi.waitFor(async () => {
    const answer = await server.ask(`/api/v1/agents/${podname}`, request);
    expect(answer.status).not.toBe(429);
    return answer;
  });
}
