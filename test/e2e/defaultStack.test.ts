import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, onTestFailed, vi } from 'vitest';
import type { ComponentSpec, TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { measured, seconds } from '../harness/measured.ts';
import { helmInstall, helmUninstall, helmUpgrade, NAMESPACE, operatorLogs } from '../scenario/install.ts';
import { getObject, kubectl } from '../scenario/kubectl.ts';
import { StackWatch } from '../scenario/stackWatch.ts';
import { deleteObject, idOfRef } from '../scenario/workloads.ts';
import { enterLab, leaveLab, NODES } from './storyLab/storyLab.ts';
import { untilIn, within } from '../harness/slack.ts';

/** The stack `default`, on real pods: an installation moves into it, out of it, and begins with it. */
const EXPORTER_NAMESPACE = `${NAMESPACE}-node-exporter`;
const EXPORTER = { kind: 'DaemonSet', namespace: EXPORTER_NAMESPACE, name: 'node-exporter' };
const failureReport = (): void => onTestFailed(async () => console.error(await operatorLogs().catch(String)));

beforeAll(async () => {
  await enterLab();
  await helmInstall({ 'stacks.enabled': 'false' });
});
afterAll(leaveLab);

const stack = () => getObject<TrafficStack>('trafficstack', 'default');
const isReady = async (): Promise<void> => {
  const { metadata, status } = await stack();
  expect(status?.observedGeneration).toBe(metadata?.generation);
  expect(findCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
};
/** Pods of node-exporter and Prometheus, and how often their containers were restarted. */
async function pods(): Promise<string[]> {
  const ofPrometheus = ['-n', NAMESPACE, '-l', 'app.kubernetes.io/name=prometheus'];
  const lists = await Promise.all(
    [['-n', EXPORTER_NAMESPACE], ofPrometheus].map((where) => getObject<{ items: V1Pod[] }>('pods', ...where)),
  );
  const all = lists.flatMap(({ items }) => items);
  return all
    .map(({ metadata, status }) => {
      const [container] = status?.containerStatuses ?? [];
      return `${metadata?.name} ${metadata?.uid} ${container?.ready} ${container?.restartCount}`;
    })
    .sort();
}
const owner = async () =>
  (await kubectl(
    ...['get', 'deployment', 'prometheus', '-n', NAMESPACE],
    ...['-o', 'jsonpath={.metadata.ownerReferences[*].kind}'],
  )) || 'nobody';

it('takes over what an installation without stacks runs, and no pod restarts', async () => {
  failureReport();
  await vi.waitFor(async () => {
    const found = await pods();
    expect(found.filter((pod) => pod.includes('true'))).toHaveLength(NODES.length + 1);
  }, within(120));
  const before = await pods();
  const begin = performance.now();
  await helmUpgrade({});
  await vi.waitFor(isReady, within(60));
  measured(`the stack default had what was there ${seconds(performance.now() - begin)} after helm upgrade began`);
  console.log(await kubectl('get', 'trafficstack'));
  expect(await owner()).toBe('TrafficStack');
  expect(await pods()).toEqual(before);
});

it('names a component that somebody deletes within 10 s, and heals it', async () => {
  failureReport();
  const watch = await StackWatch.start('default');
  const begin = performance.now();
  await deleteObject(EXPORTER);
  const named = await watch.named('node-exporter', begin);
  expect(named.status).toMatchObject({
    ...{ state: 'Progressing', reason: 'Applying', message: `to create: ${idOfRef(EXPORTER)}` },
  });
  measured(`the deleted component was named after ${seconds(named.at - begin)}`);
  await watch.healed('node-exporter', named);
  await watch.stop();
  await vi.waitFor(isReady, within(60));
});

it('gives all back when stacks are switched off, and no pod restarts', async () => {
  failureReport();
  const before = await pods();
  await helmUpgrade({ stacks: { enabled: false } });
  await vi.waitFor(async () => expect(await owner()).toBe('Deployment'), within(60));
  expect(await pods()).toEqual(before);
});

it('goes with helm uninstall', async () => {
  failureReport();
  await helmUpgrade({});
  await vi.waitFor(async () => expect(await owner()).toBe('TrafficStack'), within(60));
  await helmUninstall();
  await vi.waitFor(async () => {
    expect((await kubectl('get', 'trafficstacks', '-o', 'name')).trim()).toBe('');
    expect((await kubectl('get', 'deployments,daemonsets,services', '-n', NAMESPACE, '-o', 'name')).trim()).toBe('');
    await expect(kubectl('get', 'namespace', EXPORTER_NAMESPACE)).rejects.toThrow(/not found/i);
  }, within(60));
});

it('is ready within 60 s of helm install in an empty cluster', async () => {
  failureReport();
  const begin = performance.now();
  await helmInstall();
  await vi.waitFor(isReady, untilIn(60, begin));
  measured(`the stack default was ready ${seconds(performance.now() - begin)} after helm install began`);
});

it('restores a built-in component that misses its deadline', async () => {
  failureReport();
  const name = 'node-exporter';
  const component = async () => (await stack()).status?.components?.find((each) => each.name === name);
  const change = async (settings: Partial<ComponentSpec>) => {
    const { spec } = await stack();
    const components = spec.components.map((each) => (each.name === name ? { ...each, ...settings } : each));
    const patch = { spec: { upgrade: { rollback: true }, components } };
    await kubectl('patch', 'trafficstack', 'default', '--type=merge', '--patch', JSON.stringify(patch));
  };
  const image = (await component())?.version;
  await change({});
  await vi.waitFor(async () => {
    const revisions = await kubectl('get', 'controllerrevisions', '-n', NAMESPACE, '-o', 'name');
    expect(revisions).toMatch(/\/node-exporter-/);
  }, within(30));
  // It has no node-exporter.
  const broken = 'docker.io/library/busybox:1.36';
  await change({ deadline: '20s', nodeExporter: { image: broken } });
  await vi.waitFor(async () => {
    expect(await component()).toMatchObject({
      ...{ state: 'Failed', reason: 'RolledBack', version: image, readyReplicas: NODES.length },
      rolledBackFrom: { version: broken, message: expect.stringContaining('container node-exporter: ') as unknown },
    });
  }, within(120));
  console.log(await kubectl('get', 'trafficstack'), JSON.stringify(await component(), null, 2));
});
