import type { V1ConfigMap, V1DaemonSet } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { CONFIG_MAPS, DAEMONSETS, NAMESPACES, NODES, PODS } from '../../../src/runtime/client/resources.ts';
import { audited, untilNone, writesOf } from '../../harness/audit.ts';
import { giveRoom } from '../injection/world.ts';
import { NODE } from './kubelet.ts';
import { Installation, PROMETHEUS } from './installation.ts';
import { PERSON, unusedRights, WAIT, type StackScene } from './scene.ts';

/** A node-exporter that another monitoring has installed, in place of that of the operator. */
const USER = 'stack-foreign-exporter';
const THEIRS = { namespace: 'monitoring', name: 'node-exporter' };
/** Of the nodes; pods of the network of pods have another address here. */
const NODE_ADDRESS = '192.0.2.1:9100';
const POD_ADDRESS = '192.0.2.2:9100';
const SOUGHT = 'a DaemonSet with hostNetwork and the port 9100';
/** Half the time until targets are looked at without a reason. */
const SOON = { timeout: 30_000, interval: 200 };
let i: Installation;
let s: StackScene;

beforeAll(async () => {
  i = await Installation.start(USER);
  s = i.scene;
  await s.f.client.create(NAMESPACES, { metadata: { name: THEIRS.namespace } });
  await i.startOperator();
});
afterAll(() => i.stop());

const exporter = (mode: ComponentSpec['mode']): ComponentSpec => ({ name: 'exporter', type: 'NodeExporter', mode });
const metrics: ComponentSpec = { name: 'metrics', type: 'Prometheus', dependsOn: ['exporter'] };
/** As the helm chart prometheus-node-exporter makes it. */
const containers = (port: string) => [
  {
    ...{ name: 'node-exporter', image: 'theirs:7', args: ['--web.listen-address=[$(HOST_IP)]:9100'] },
    ports: [{ name: port, containerPort: 9100, protocol: 'TCP' }],
  },
];
const install = () => {
  const labels = { app: 'theirs' };
  const spec = { hostNetwork: true, terminationGracePeriodSeconds: 0, containers: containers('http-metrics') };
  return s.f.client.create(DAEMONSETS, {
    metadata: THEIRS,
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
};
const theirs = (): Promise<V1DaemonSet> => s.f.client.get(DAEMONSETS, THEIRS);
/** What the Prometheus of the operator scrapes, by node. */
const areScraped = (wanted: Record<string, string>) =>
  vi.waitFor(async () => {
    const map = await s.f.client.get<V1ConfigMap>(CONFIG_MAPS, { ...PROMETHEUS, name: 'prometheus-targets' });
    const groups = JSON.parse(map.data?.['targets.json'] ?? '[]') as { targets: string[]; labels: { node: string } }[];
    expect(Object.fromEntries(groups.map(({ targets, labels }) => [labels.node, targets.join()]))).toEqual(wanted);
  }, SOON);
const requests = (verb: string, resource: string) =>
  audited(s.f.controlPlane).filter((each) => each.user === USER && each.verb === verb && each.resource === resource);

it('the operator’s own gives the port up, and the component waits for one', async () => {
  await i.measures();
  await areScraped({ [NODE]: POD_ADDRESS });
  await s.create('main', [metrics, exporter('External')]);
  await i.exporterIsGone();
  await s.becomes('exporter', {
    ...{ mode: 'External', state: 'Progressing', reason: 'ExternalMissing' },
    message: `${SOUGHT} does not exist: with the mode External, another owner creates it`,
  });
  await s.becomes('metrics', { state: 'Waiting', waitingOn: { component: 'exporter', what: SOUGHT } });
});

it('one that is there is used: it is named, scraped and not written', async () => {
  await install();
  await s.ready();
  expect(await s.component('exporter')).toMatchObject({
    ...{ mode: 'External', state: 'Ready', version: 'theirs:7', uses: { kind: 'DaemonSet', ...THEIRS } },
    message: 'uses DaemonSet monitoring/node-exporter: 1 of 1 pods are available',
  });
  await areScraped({ [NODE]: NODE_ADDRESS });
  expect(writesOf(s.f.controlPlane, USER).filter(({ namespace }) => namespace === THEIRS.namespace)).toEqual([]);
});

it('it costs no request', async () => {
  const all = () => [...requests('list', 'daemonsets'), ...requests('get', 'daemonsets'), ...requests('list', 'pods')];
  // Until their watch is current, they are read.
  await untilNone('nothing is read', all, 20_000);
});

it('a node that joins is scraped, and one that leaves is not', async () => {
  await s.f.client.create(NODES, { metadata: { name: 'n2' } });
  await giveRoom(s.f, ['n2']);
  await s.f.client.mergePatch(NODES, { name: 'n2' }, { spec: { taints: null } }, PERSON);
  await areScraped({ [NODE]: NODE_ADDRESS, n2: NODE_ADDRESS });
  // The stack and the measurement look at it at different times.
  await s.becomes('exporter', { replicas: 2 });
  await s.f.client.delete(NODES, { name: 'n2' });
  const [pod] = await s.f.client.list(PODS, { namespace: THEIRS.namespace, fieldSelector: 'spec.nodeName=n2' });
  await s.f.client.delete(PODS, { namespace: THEIRS.namespace, name: pod?.metadata?.name ?? '' });
  await areScraped({ [NODE]: NODE_ADDRESS });
});

it('one that only clients with a token may scrape is of no use', async () => {
  const patch = (port: string) =>
    s.f.client.mergePatch(
      DAEMONSETS,
      THEIRS,
      { spec: { template: { spec: { containers: containers(port) } } } },
      PERSON,
    );
  await patch('https');
  await s.becomes('exporter', { state: 'Degraded', reason: 'ExternalUnusable' });
  expect((await s.component('exporter'))?.message).toMatch(/^DaemonSet monitoring\/node-exporter serves the port 9100/);
  await areScraped({});
  await patch('http-metrics');
  await s.ready();
  await areScraped({ [NODE]: NODE_ADDRESS });
});

it('a restart changes nothing', async () => {
  await i.restartOperator();
  await s.ready();
  await areScraped({ [NODE]: NODE_ADDRESS });
  await expect(i.daemonSet()).rejects.toSatisfy(isNotFound);
});

it('when it is gone, the component is Degraded; with Auto, the stack makes its own and keeps it', async () => {
  await s.f.client.delete(DAEMONSETS, THEIRS);
  await s.becomes('exporter', { state: 'Degraded', reason: 'ExternalMissing' });
  await areScraped({});
  await s.change('main', [metrics, exporter('Auto')]);
  await s.ready();
  await areScraped({ [NODE]: POD_ADDRESS });
  const before = await i.pods();
  await install();
  await i.restartOperator();
  await s.ready();
  expect((await s.component('exporter'))?.mode).toBeUndefined();
  expect(await i.pods()).toEqual(before);
});

it('with Auto, one that is there first is used, and outlives the stack', async () => {
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  await i.restartOperator('--node-exporter=false');
  await i.exporterIsGone();
  await vi.waitFor(async () => expect((await theirs()).status).toMatchObject({ numberAvailable: 1 }), WAIT);
  const { uid } = (await theirs()).metadata ?? {};
  await s.create('main', [exporter('Auto')]);
  await s.ready();
  expect(await s.component('exporter')).toMatchObject({ mode: 'External', uses: { kind: 'DaemonSet', ...THEIRS } });
  await areScraped({ [NODE]: NODE_ADDRESS });
  await expect(i.daemonSet()).rejects.toSatisfy(isNotFound);
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  await areScraped({});
  expect((await theirs()).metadata?.uid).toBe(uid);
});

it('nothing is refused to the operator', () => {
  expect(unusedRights(s, USER, () => false)).toEqual([]);
});
