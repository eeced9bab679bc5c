import { fileURLToPath } from 'node:url';
import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, onTestFailed, vi } from 'vitest';
import type { Agent } from '../../src/api/agent/schema.ts';
import { AGENT_NAME, HOST_AGENT_NAME, SERVICE_NAME } from '../../src/connectivity/objects/names.ts';
import { measured, seconds } from '../harness/measured.ts';
import { getObject, kubectl } from '../scenario/kubectl.ts';
import { enterLab, leaveLab, NODES } from './storyLab/storyLab.ts';

/** The connectivity check on real pods, as a user deploys it: `kubectl apply -k deploy/connectivity`. */
const DIRECTORY = fileURLToPath(new URL('../../deploy/connectivity', import.meta.url));
const NAMESPACE = 'traffic-operator-system-connectivity';
const API = `/api/v1/namespaces/${NAMESPACE}/services/${SERVICE_NAME}:http/proxy/api/v1`;
const WAIT = { timeout: 120_000, interval: 500 };

const check = (): Promise<string> => kubectl('get', '--raw', `${API}/connectivity_check`);
const names = (...items: readonly string[]) => items.map((item): unknown => expect.stringContaining(item) as unknown);

/** Pods of agents, by the name of their DaemonSet and node. */
async function agentPods(): Promise<Map<string, string>> {
  const selector = `app in (${AGENT_NAME},${HOST_AGENT_NAME})`;
  const { items } = await getObject<{ items: V1Pod[] }>('pods', `--namespace=${NAMESPACE}`, `--selector=${selector}`);
  return new Map(items.map(({ metadata, spec }) => [`${metadata!.labels!.app} ${spec!.nodeName}`, metadata!.name!]));
}

const failureReport = (): void =>
  onTestFailed(async () => {
    console.error(await kubectl('get', 'pods', '-A', '-o', 'wide').catch(String));
    console.error(await kubectl('logs', `--namespace=${NAMESPACE}`, 'deployment/netchecker-server').catch(String));
  });

beforeAll(async () => {
  await enterLab();
}, 900_000);
afterAll(leaveLab);

describe('the connectivity check', () => {
  it('hears of two agents on each node', async () => {
    failureReport();
    const began = performance.now();
    await kubectl('apply', '-k', DIRECTORY);
    await vi.waitFor(async () => {
      expect(JSON.parse(await check())).toEqual({
        Message: `All ${2 * NODES.length} pods successfully reported back to the server`,
        Absent: null,
        Outdated: null,
      });
    }, WAIT);
    measured(`the check succeeded ${seconds(performance.now() - began)} after the objects were applied`);
  });

  it('stores what each agent sees of its network', async () => {
    failureReport();
    await vi.waitFor(async () => {
      const { items } = await getObject<{ items: Agent[] }>('agents.network-checker.ext', `--namespace=${NAMESPACE}`);
      const pods = await agentPods();
      expect(items.map(({ metadata }) => metadata?.name).sort()).toEqual([...pods.values()].sort());
      for (const node of NODES) {
        const specOf = (name: string) =>
          items.find(({ metadata }) => metadata?.name === pods.get(`${name} ${node}`))?.spec;
        expect(specOf(AGENT_NAME)).toMatchObject({
          nodename: node,
          network_probes: [{ ConnectionResult: 1, HTTPCode: 200 }],
          nslookup: { [`${SERVICE_NAME}.${NAMESPACE}`]: names('.') },
        });
        expect(specOf(HOST_AGENT_NAME)).toMatchObject({ nodename: node, network_probes: [{ HTTPCode: 200 }] });
        // A pod in the network of its node sees other interfaces than a pod in its own.
        expect(specOf(HOST_AGENT_NAME)?.ips).not.toEqual(specOf(AGENT_NAME)?.ips);
      }
    }, WAIT);
  });

  it('names the agent that is not replaced yet, and is whole again with the new one', async () => {
    failureReport();
    const pod = (await agentPods()).get(`${AGENT_NAME} ${NODES[0]}`)!;
    await kubectl('delete', 'pod', pod, `--namespace=${NAMESPACE}`, '--grace-period=1');
    await vi.waitFor(async () => {
      const pods = await agentPods();
      expect([...pods.values()]).not.toContain(pod);
      expect(pods.size).toBe(2 * NODES.length);
      expect(await check()).toContain(`All ${2 * NODES.length} pods`);
      const agents = await kubectl('get', 'agents.network-checker.ext', `--namespace=${NAMESPACE}`, '-o', 'name');
      expect(agents).not.toContain(pod);
    }, WAIT);
  });
});
