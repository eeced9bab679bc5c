import { fileURLToPath } from 'node:url';
import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, onTestFailed, vi } from 'vitest';
import type { Agent } from '../../src/api/agent/report.ts';
import type { TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import { AGENT_NAME, HOST_AGENT_NAME, SERVICE_NAME } from '../../src/connectivity/objects/names.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { measured, seconds } from '../harness/measured.ts';
import { getRaw } from '../scenario/api.ts';
import { AGENTS_NAMESPACE } from '../scenario/connectivity.ts';
import { helmInstall, operatorLogs } from '../scenario/install.ts';
import { getObject, kubectl } from '../scenario/kubectl.ts';
import {
  installOtherMonitoring,
  nodeAddresses,
  OTHER_PROMETHEUS,
  OTHER_SERVICE,
  otherMonitoringReady,
  otherMonitoringScrapes,
} from '../scenario/monitoring.ts';
import { applyWatch, nodeRows } from '../scenario/watch.ts';
import { untilIn, within } from '../harness/slack.ts';
import { enterLab, leaveLab, NODES } from './storyLab/storyLab.ts';

/**
 * The stack `default` in a cluster that already has a monitoring, as kube-prometheus installs it, on the port of node-exporter: real scrapes,
 * real answers, and nothing is deployed a second time. Then the connectivity check, which does not need the operator: `kubectl apply -k
 * deploy/connectivity`.
 */
const CHECK_DIRECTORY = fileURLToPath(new URL('../../deploy/connectivity', import.meta.url));
const CHECK_API = `/api/v1/namespaces/${AGENTS_NAMESPACE}/services/${SERVICE_NAME}:http/proxy/api/v1`;
const failureReport = (): void =>
  onTestFailed(async () => {
    console.error(await kubectl('get', 'trafficstack', 'default', '-o', 'yaml').catch(String));
    console.error(await operatorLogs().catch(String));
    console.error(await kubectl('get', 'pods', '-A', '-o', 'wide').catch(String));
    console.error(await kubectl('logs', '-n', AGENTS_NAMESPACE, 'deployment/netchecker-server').catch(String));
  });

beforeAll(async () => {
  await enterLab();
  await installOtherMonitoring(await nodeAddresses(), 9100);
  await otherMonitoringReady();
  await otherMonitoringScrapes(NODES.length);
}, 900_000);
afterAll(leaveLab);

const stack = () => getObject<TrafficStack>('trafficstack', 'default');
const component = async (name: string) => (await stack()).status?.components?.find((each) => each.name === name);
const isReady = async (): Promise<void> => {
  const { metadata, status } = await stack();
  expect(status?.observedGeneration).toBe(metadata?.generation);
  expect(findCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
};
const workloads = async () =>
  (
    await kubectl(
      'get',
      'daemonsets,deployments',
      '-A',
      '-o',
      'name',
      '-l',
      'app.kubernetes.io/managed-by=traffic-operator',
    )
  )
    .split('\n')
    .filter((name) => name !== '');
const measuresAllNodes = async (): Promise<void> => {
  const percents = (await nodeRows('web')).map(({ percent }) => percent !== '');
  expect(percents).toEqual(NODES.map(() => true));
};

it('the stack default is ready within 60 s of helm install, and deploys nothing a second time', async () => {
  failureReport();
  const begin = performance.now();
  await helmInstall();
  await vi.waitFor(isReady, untilIn(60, begin));
  measured(
    `with another monitoring, the stack default was ready ${seconds(performance.now() - begin)} after helm install began`,
  );
  console.log(await kubectl('get', 'trafficstack', 'default', '-o', 'jsonpath={.status.components}'));
  expect(await component('prometheus')).toMatchObject({
    ...{ mode: 'External', state: 'Ready', reason: 'Answering' },
    uses: { kind: 'Service', namespace: 'monitoring', name: OTHER_SERVICE, url: OTHER_PROMETHEUS },
  });
  expect(await component('node-exporter')).toMatchObject({
    ...{
      mode: 'External',
      state: 'Ready',
      uses: { kind: 'DaemonSet', namespace: 'monitoring', name: 'node-exporter' },
    },
  });
  expect(await workloads()).toEqual([]);
});

it('the operator measures the nodes with it', async () => {
  failureReport();
  await applyWatch('web', '90', 1);
  await vi.waitFor(measuresAllNodes, within(90));
});

describe('the connectivity check without the operator', () => {
  it('hears of two agents on each node', async () => {
    failureReport();
    const applied = performance.now();
    await kubectl('apply', '-k', CHECK_DIRECTORY);
    await vi.waitFor(async () => {
      expect(JSON.parse(await getRaw(`${CHECK_API}/connectivity_check`))).toEqual({
        Message: `All ${2 * NODES.length} pods successfully reported back to the server`,
        Absent: null,
        Outdated: null,
      });
    }, within(60));
    measured(`the check succeeded ${seconds(performance.now() - applied)} after the objects were applied`);
  });

  it('stores what each agent sees of its network', async () => {
    failureReport();
    const selector = `app in (${AGENT_NAME},${HOST_AGENT_NAME})`;
    await vi.waitFor(async () => {
      const [{ items }, pods] = await Promise.all([
        getObject<{ items: Agent[] }>('agents.network-checker.ext', '-n', AGENTS_NAMESPACE),
        getObject<{ items: V1Pod[] }>('pods', '-n', AGENTS_NAMESPACE, '-l', selector),
      ]);
      const names = pods.items.map(({ metadata }) => metadata!.name!).sort();
      expect(items.map(({ metadata }) => metadata?.name).sort()).toEqual(names);
      for (const node of NODES) {
        const podOf = (app: string) =>
          pods.items.find(({ metadata, spec }) => metadata!.labels!.app === app && spec!.nodeName === node);
        const specOf = (app: string) =>
          items.find(({ metadata }) => metadata?.name === podOf(app)?.metadata?.name)?.spec;
        expect(specOf(AGENT_NAME)).toMatchObject({
          nodename: node,
          network_probes: [{ ConnectionResult: 1, HTTPCode: 200 }],
          nslookup: { [`${SERVICE_NAME}.${AGENTS_NAMESPACE}`]: [expect.stringContaining('.') as unknown] },
        });
        expect(specOf(HOST_AGENT_NAME)).toMatchObject({ nodename: node, network_probes: [{ HTTPCode: 200 }] });
        // A pod in the network of its node sees other interfaces than a pod in its own.
        expect(specOf(HOST_AGENT_NAME)?.ips).not.toEqual(specOf(AGENT_NAME)?.ips);
      }
    }, within(60));
  });
});
