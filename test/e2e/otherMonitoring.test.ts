import { afterAll, beforeAll, expect, it, onTestFailed, vi } from 'vitest';
import type { ComponentSpec, TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import type { TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { measured, seconds } from '../harness/measured.ts';
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
import { ask } from '../scenario/prometheus.ts';
import { applyWatch, nodeRows } from '../scenario/watch.ts';
import { enterLab, leaveLab, NODES } from './storyLab/storyLab.ts';
import { untilIn, within } from '../harness/slack.ts';

/**
 * The stack `default` in a cluster that has a monitoring already, as kube-prometheus installs it, on the port of node-exporter: real
 * scrapes, real answers.
 */
const failureReport = (): void =>
  onTestFailed(async () => {
    console.error(await kubectl('get', 'trafficstack', 'default', '-o', 'yaml').catch(String));
    console.error(await operatorLogs().catch(String));
  });

beforeAll(async () => {
  await enterLab();
  await installOtherMonitoring(await nodeAddresses(), 9100);
  await otherMonitoringReady();
  await otherMonitoringScrapes(NODES.length);
});
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

it('is ready within 60 s of helm install, and deploys nothing a second time', async () => {
  failureReport();
  const begin = performance.now();
  await helmInstall();
  await vi.waitFor(isReady, untilIn(60, begin));
  measured(
    `beside another monitoring, the stack default was ready ${seconds(performance.now() - begin)} after helm install began`,
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

it('measures the nodes with it', async () => {
  failureReport();
  await applyWatch('web', '90', 1);
  await vi.waitFor(measuresAllNodes, within(90));
});

it('names it within 10 s when it does not answer, and goes on when it does', async () => {
  failureReport();
  await kubectl('scale', 'deployment', 'prometheus', '-n', 'monitoring', '--replicas=0');
  const begin = performance.now();
  await vi.waitFor(async () => {
    expect(await component('prometheus')).toMatchObject({ state: 'Degraded', reason: 'ExternalUnusable' });
  }, within(10));
  measured(`the Prometheus that was gone was named after ${seconds(performance.now() - begin)}`);
  expect((await component('prometheus'))?.uses?.url).toBe(OTHER_PROMETHEUS);
  await kubectl('scale', 'deployment', 'prometheus', '-n', 'monitoring', '--replicas=1');
  await vi.waitFor(isReady, within(60));
  expect(await workloads()).toEqual([]);
});

it('with a Prometheus of the operator, the exporters of somebody else are scraped', async () => {
  failureReport();
  const components: ComponentSpec[] = [
    { name: 'node-exporter', type: 'NodeExporter', mode: 'External' },
    { name: 'prometheus', type: 'Prometheus' },
  ];
  await kubectl('patch', 'trafficstack', 'default', '--type=merge', '-p', JSON.stringify({ spec: { components } }));
  await vi.waitFor(isReady, within(60));
  expect(await workloads()).toEqual(['deployment.apps/prometheus']);
  // The other one cannot be what answers.
  await kubectl('delete', 'deployment', 'prometheus', '-n', 'monitoring');
  await vi.waitFor(async () => {
    const up = await ask('up{job="node-exporter"} == 1');
    expect(up.map(({ metric }) => metric.node).sort()).toEqual(NODES);
  }, within(60));
  await vi.waitFor(async () => {
    const { status } = await getObject<TrafficWatch>('trafficwatch', 'web');
    expect(findCondition(status?.conditions, 'MetricsAvailable')).toMatchObject({ status: 'True' });
    await measuresAllNodes();
  }, within(90));
});
