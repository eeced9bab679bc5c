import type { V1DaemonSet, V1Pod } from '@kubernetes/client-node';
import { beforeEach, expect, it, vi } from 'vitest';
import { createInformer } from '../../../runtime/cache/informer.ts';
import { InformerPool } from '../../../runtime/cache/informerPool.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { ObjectRef, Resource } from '../../../runtime/client/resource.ts';
import { DAEMONSETS } from '../../../runtime/client/resources.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { FakeApi } from '../../../runtime/testing/fakeApi/fakeApi.ts';
import { watchesOf } from '../../../runtime/testing/fakeApi/watches.ts';
import type { Used } from '../../contract/stackOwnership.ts';
import { UsedExporter } from './usedExporter.ts';

const WORKLOAD = { kind: 'DaemonSet', namespace: 'monitoring', name: 'node-exporter' };
const USED: Used = { component: { name: 'x', type: 'NodeExporter' }, workload: WORKLOAD };
const daemonSet = (resourceVersion: string): V1DaemonSet => ({
  metadata: { ...WORKLOAD, uid: 'd1', resourceVersion },
  spec: { selector: { matchLabels: { app: 'exporter' } }, template: {} },
});
const pod = (nodeName: string, owner: string): V1Pod => ({
  metadata: { ownerReferences: [{ uid: owner, apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'x' }] },
  spec: { nodeName, containers: [] },
  status: { hostIP: `ip-${nodeName}` },
});

let asked: string[];
let live: V1DaemonSet | undefined;
let pods: V1Pod[];
let used: Used | undefined;
let clock: FakeClock;
let exporter: UsedExporter;
const addresses = async (): Promise<string[]> => {
  await exporter.read();
  return exporter.targets().map(({ address }) => address);
};

beforeEach(() => {
  [asked, live, pods, used, clock] = [[], daemonSet('1'), [pod('a', 'd1'), pod('b', 'another')], USED, new FakeClock()];
  const client = {
    get({ plural }: Resource, { namespace, name }: ObjectRef) {
      asked.push(`get ${plural} ${namespace}/${name}`);
      const missing = new ApiError({ status: 404, reason: 'NotFound', method: 'GET', path: plural });
      return live === undefined ? Promise.reject(missing) : Promise.resolve(live);
    },
    list({ plural }: Resource, { namespace, labelSelector }: { namespace: string; labelSelector: string }) {
      asked.push(`list ${plural} ${namespace} ${labelSelector}`);
      return Promise.resolve(pods);
    },
  } as unknown as Client;
  const nodes = () => ['2', '1'].map((name) => ({ name, addresses: [name, `198.51.100.${name}`] }));
  // Nothing is watched yet.
  const watches = { watch: () => undefined, current: () => undefined };
  exporter = new UsedExporter({ client, clock, nodes, watches, used: () => used, port: 9100 });
});

it('costs nothing while no stack uses one', async () => {
  used = undefined;
  expect([await addresses(), asked]).toEqual([[], []]);
});

it('has the nodes of the pods that its DaemonSet owns', async () => {
  expect(await addresses()).toEqual(['ip-a:9100']);
  expect(asked).toEqual(['get daemonsets monitoring/node-exporter', 'list pods monitoring app=exporter']);
});

it('lists the pods again if the DaemonSet has changed, or the port, and after five minutes', async () => {
  const lists = async () => {
    await exporter.read();
    return asked.filter((each) => each.startsWith('list')).length;
  };
  expect([await lists(), await lists()]).toEqual([1, 1]);
  live = daemonSet('2');
  expect([await lists(), await lists()]).toEqual([2, 2]);
  used = { ...USED, component: { ...USED.component, nodeExporter: { port: 9200 } } };
  expect([await lists(), await lists()]).toEqual([3, 3]);
  expect(await addresses()).toEqual(['ip-a:9200']);
  await clock.advance(299_999);
  expect(await lists()).toBe(3);
  await clock.advance(1);
  expect(await lists()).toBe(4);
});

it('has none when its DaemonSet is gone, or is no longer used', async () => {
  expect(await addresses()).toHaveLength(1);
  live = undefined;
  expect(await addresses()).toEqual([]);
  live = daemonSet('3');
  expect(await addresses()).toHaveLength(1);
  used = undefined;
  expect(await addresses()).toEqual([]);
});

it('has all nodes if no object shows it, and reads nothing', async () => {
  used = { ...USED, workload: { kind: 'Node', namespace: '', name: 'n1' } };
  expect(await addresses()).toEqual(['198.51.100.1:9100', '198.51.100.2:9100']);
  expect(asked).toEqual([]);
});

it('its DaemonSet is watched while it is used, and not read; each change is an event', async () => {
  const api = new FakeApi();
  const transport = watchesOf(api, [DAEMONSETS]);
  const told = vi.fn();
  const watches = new InformerPool({
    create: (selection) => createInformer({ ...selection, transport, clock, logger: createLogger('silent') }),
    onChange: told,
  });
  exporter = new UsedExporter({ client: api, clock, nodes: () => [], watches, used: () => used, port: 9100 });
  const isTold = async () => {
    await vi.waitFor(() => expect(told).toHaveBeenCalled());
    told.mockClear();
  };
  const { name, namespace } = WORKLOAD;
  const made = await api.create(DAEMONSETS, { metadata: { namespace, name }, spec: daemonSet('').spec });
  expect(exporter.isWithoutEvents).toBe(true);
  expect(await addresses()).toEqual([]);
  await isTold();
  expect([await addresses(), exporter.isWithoutEvents]).toEqual([[], false]);
  const one = pod('a', made.metadata?.uid ?? '');
  api.objects.set('Pod monitoring/p', {
    ...one,
    metadata: { ...one.metadata, namespace, labels: { app: 'exporter' } },
  });
  await api.mergePatch(DAEMONSETS, { namespace, name }, { metadata: { labels: { a: 'b' } } }, { fieldManager: 'f' });
  await isTold();
  expect(await addresses()).toEqual(['ip-a:9100']);
  await api.delete(DAEMONSETS, { namespace, name });
  await isTold();
  expect(await addresses()).toEqual([]);
  expect(api.calls.filter(({ verb }) => verb === 'get')).toHaveLength(1);
  used = undefined;
  await addresses();
  expect([watches.size, exporter.isWithoutEvents]).toEqual([0, false]);
  await watches.close();
});
