import type { V1ConfigMap } from '@kubernetes/client-node';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { CONFIG_MAPS } from '../../../src/runtime/client/resources.ts';
import { writesOf } from '../../harness/audit.ts';
import { start, whenReady, type RunningProcess } from '../../harness/process.ts';
import { binary } from '../../lab/binaries.ts';
import { Installation, PROMETHEUS } from './installation.ts';
import { NODE, setAddress } from './kubelet.ts';
import { unusedRights, WAIT, type StackScene } from './scene.ts';

/** A real node_exporter that no object of the cluster runs, as systemd does, at the address of the node. */
const USER = 'stack-exporter-on-nodes';
const IP = '127.0.0.77';
const POD_ADDRESS = '192.0.2.2:9100';
let i: Installation;
let s: StackScene;
let exporter: RunningProcess;

beforeAll(async () => {
  i = await Installation.start(USER);
  s = i.scene;
  await setAddress(s.f.client, IP);
  await startExporter();
});
afterAll(async () => {
  await exporter.stop();
  await i.stop();
});

async function startExporter(): Promise<void> {
  const listen = `--web.listen-address=${IP}:9100`;
  const log = join(s.f.controlPlane.directory, 'exporter.log');
  exporter = start(await binary('node_exporter'), [listen, '--log.level=warn'], log);
  await whenReady('node_exporter', exporter, async () => (await fetch(`http://${IP}:9100`)).ok);
}

const isScraped = (address: string) =>
  vi.waitFor(async () => {
    const map = await s.f.client.get<V1ConfigMap>(CONFIG_MAPS, { ...PROMETHEUS, name: 'prometheus-targets' });
    const groups = JSON.parse(map.data?.['targets.json'] ?? '[]') as { targets: string[]; labels: { node: string } }[];
    expect(groups).toEqual([{ targets: [address], labels: { node: NODE } }]);
  }, WAIT);
const hasNone = () => expect(i.daemonSet()).rejects.toSatisfy(isNotFound);
const becomes = (wanted: object) => s.becomes('node-exporter', wanted, 'default');
const USED = { mode: 'External', uses: { kind: 'Node', namespace: '', name: NODE } };

it('is used by the stack default: it is named and scraped, and no second one is deployed', async () => {
  await i.startOperator('--default-stack');
  await s.ready('default');
  await becomes({
    ...{ ...USED, state: 'Ready', reason: 'Answering' },
    message: 'uses what listens on the port 9100 of the nodes: 1 of 1 nodes that were asked answer',
  });
  await isScraped(`${IP}:9100`);
  await hasNone();
  expect(writesOf(s.f.controlPlane, USER).filter(({ resource }) => resource === 'daemonsets')).toEqual([]);
});

it('is named when it does not answer any more, and nothing takes its port, also after a restart of the operator', async () => {
  await exporter.stop();
  await becomes({
    ...{ ...USED, state: 'Degraded', reason: 'ExternalUnusable' },
    message: 'no node-exporter answers on the port 9100 of a node any more: 1 were asked',
  });
  await i.restartOperator('--default-stack');
  await becomes({ ...USED, state: 'Degraded', reason: 'ExternalUnusable' });
  await isScraped(`${IP}:9100`);
  await hasNone();
  await startExporter();
  await becomes({ ...USED, state: 'Ready' });
});

it('is no longer used when the stack makes its own, which it keeps with Auto', async () => {
  const { components } = (await s.stack('default')).spec;
  const withMode = (mode: 'Managed' | 'Auto') =>
    components.map((each) => (each.type === 'NodeExporter' ? { ...each, mode } : each));
  await s.change('default', withMode('Managed'));
  await s.ready('default');
  expect((await s.component('node-exporter', 'default'))?.uses).toBeUndefined();
  await isScraped(POD_ADDRESS);
  const before = await i.pods();
  await s.change('default', withMode('Auto'));
  await i.restartOperator('--default-stack');
  await s.ready('default');
  expect((await s.component('node-exporter', 'default'))?.mode).toBeUndefined();
  expect(await i.pods()).toEqual(before);
  await isScraped(POD_ADDRESS);
});

it('nothing is refused to the operator', () => {
  expect(unusedRights(s, USER, () => false)).toEqual([]);
});
