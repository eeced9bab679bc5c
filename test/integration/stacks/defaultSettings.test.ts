import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { EventsV1Event, V1ConfigMap } from '@kubernetes/client-node';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { DEFAULT_STACK_HASH, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { defaultMeasurementOptions } from '../../../src/controllers/measurement/options.ts';
import { appliedHash } from '../../../src/runtime/apply/appliedHash.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import type { KubeObject } from '../../../src/runtime/client/resource.ts';
import { CONFIG_MAPS, EVENTS, PERSISTENT_VOLUME_CLAIMS, SERVICES } from '../../../src/runtime/client/resources.ts';
import { EXPORTER, identity, Installation, PROMETHEUS } from './installation.ts';
import { PERSON, WAIT, type StackScene } from './scene.ts';

/** The settings of the stack `default`: the flags write all of them, until people change it. Then the object alone decides. */
const USER = 'stack-settings';
const { exporter, prometheus } = defaultMeasurementOptions('');
const FLAGS = ['--default-stack', '--node-exporter-port=9200', '--prometheus-retention=15d'];
/** The object does not have it. */
const IMAGE = '--node-exporter-image=node-exporter:next';
/** What the operator writes with a port, a retention and a volume, and else the defaults. */
const writtenWith = (port: number, retention: string, storage: object = {}): readonly ComponentSpec[] => [
  {
    ...{ name: 'node-exporter', type: 'NodeExporter', mode: 'Auto' },
    nodeExporter: { port, resources: exporter.resources },
  },
  {
    ...{ name: 'prometheus', type: 'Prometheus', mode: 'Auto' },
    prometheus: { resources: prometheus.resources, scrapeInterval: '1s', retention, storage },
  },
];
let i: Installation;
let s: StackScene;

beforeAll(async () => {
  i = await Installation.start(USER);
  s = i.scene;
  await i.startOperator(...FLAGS);
});
afterAll(() => i.stop());

const components = async () => (await s.stack('default')).spec.components;
const portOfExporter = async () => (await i.daemonSet()).spec?.template.spec?.containers[0]?.ports?.[0]?.containerPort;
const config = async () => {
  const found = await s.f.client.get<V1ConfigMap>(CONFIG_MAPS, { ...PROMETHEUS, name: 'prometheus-config' });
  return found.data?.['prometheus.yml'];
};
/** What is corrected proves that all of the stack was compared. */
const compared = async (): Promise<void> => {
  for (const ref of [EXPORTER, PROMETHEUS]) {
    await s.f.client.mergePatch(SERVICES, ref, { metadata: { labels: { [STACK_LABEL]: 'x' } } }, PERSON);
    await vi.waitFor(async () => {
      expect((await s.f.client.get(SERVICES, ref)).metadata?.labels).toMatchObject({ [STACK_LABEL]: 'default' });
    }, WAIT);
  }
};
const running = async () => [identity(await i.daemonSet()), identity(await i.deployment()), await config()];

it('are those of the flags when it is created', async () => {
  await s.ready('default');
  await i.measures();
  expect(await components()).toEqual(writtenWith(9200, '15d'));
  expect(await portOfExporter()).toBe(9200);
  expect(await config()).toContain('time: 15d');
});

it('follow the flags while nobody has changed the object: with another image, pods are replaced once', async () => {
  const { generation = 0 } = (await i.daemonSet()).metadata ?? {};
  await i.restartOperator('--default-stack', '--node-exporter-port=9300', '--prometheus-retention=30d', IMAGE);
  await vi.waitFor(async () => expect(await components()).toEqual(writtenWith(9300, '30d')), WAIT);
  await vi.waitFor(async () => expect(await portOfExporter()).toBe(9300), WAIT);
  await vi.waitFor(async () => expect(await config()).toContain('time: 30d'), WAIT);
  await s.ready('default');
  const { metadata, spec } = await i.daemonSet();
  expect([metadata?.generation, spec?.template.spec?.containers[0]?.image]).toEqual([
    generation + 1,
    'node-exporter:next',
  ]);
});

it('change what runs when people edit them', async () => {
  const [exporter, prometheus] = writtenWith(9400, '7d');
  await s.change('default', [
    exporter!,
    { ...prometheus!, prometheus: { ...prometheus!.prometheus, retentionSize: '2GB' } },
  ]);
  await s.ready('default');
  expect(await portOfExporter()).toBe(9400);
  for (const line of ['time: 7d', 'size: 2GB']) expect(await config()).toContain(line);
});

it('decide from then on: with other flags no object and no pod changes, and an Event names what these say', async () => {
  const [before, pods, edited] = [await running(), await i.pods(), await components()];
  await i.restartOperator(...FLAGS, IMAGE, '--node-exporter-resources={}', '--prometheus-storage-size=4Gi');
  await s.ready('default');
  await compared();
  await i.restartOperator('--default-stack', IMAGE, '--node-exporter=false');
  await s.ready('default');
  await compared();
  expect([await running(), await i.pods(), await components()]).toEqual([before, pods, edited]);
  await expect(s.f.client.get(PERSISTENT_VOLUME_CLAIMS, PROMETHEUS)).rejects.toSatisfy(isNotFound);
  const begin = 'somebody has changed the spec, so it decides, and not the flags';
  await vi.waitFor(async () => {
    const events = await s.f.client.list<EventsV1Event & KubeObject>(EVENTS, { namespace: 'default' });
    const found = events.filter(({ reason, regarding }) => reason === 'FlagsIgnored' && regarding?.name === 'default');
    expect(found.map(({ note }) => note).sort()).toEqual([
      `${begin}: NodeExporter is a component; prometheus.retention is "7d", not "24h"`,
      `${begin}: nodeExporter.port is 9400, not 9200; nodeExporter.resources is {"limits":{"memory":"96Mi"},"requests":{"cpu":"10m","memory":"32Mi"}}, not {}; ` +
        'prometheus.retention is "7d", not "15d"; prometheus.storage is {}, not {"size":"4Gi"}',
      // At the change itself.
      `${begin}: nodeExporter.port is 9400, not 9300; prometheus.retention is "7d", not "30d"`,
    ]);
  }, WAIT);
});

it('that do not fit the flags are refused by name, and nothing is changed', async () => {
  await i.restartOperator('--default-stack', '--window=20s');
  const [exporter, prometheus] = await components();
  const every = (scrapeInterval: string) =>
    s.change('default', [exporter!, { ...prometheus!, prometheus: { scrapeInterval } }]);
  await every('5s');
  await s.ready('default');
  expect(await config()).toContain('scrape_interval: 5s');
  const before = await running();
  await every('6s');
  const message =
    'component prometheus: prometheus.scrapeInterval is "6s": --window is 20s, and must be four scrapes, 24s, at least';
  await vi.waitFor(async () => {
    const stalled = await s.condition('Stalled', 'default');
    expect(stalled).toMatchObject({ status: 'True', reason: 'InvalidComponents', message });
  }, WAIT);
  expect(await running()).toEqual(before);
  await every('1s');
  await s.ready('default');
});

it('have the volume of the object, whatever that of the flags is', async () => {
  await i.restartOperator('--default-stack', '--prometheus-storage-size=4Gi');
  const [exporter, prometheus] = await components();
  const claim = () => s.f.client.get(PERSISTENT_VOLUME_CLAIMS, PROMETHEUS);
  const sizeOf = async () => (await claim()).spec?.resources?.requests?.storage;
  // Without one in the object, that of the flags applies.
  await s.change('default', [exporter!, { ...prometheus!, prometheus: {} }]);
  await vi.waitFor(async () => expect(await sizeOf()).toBe('4Gi'), WAIT);
  const settings = { storage: { size: '2Gi', storageClassName: 'fast' } };
  await s.change('default', [exporter!, { ...prometheus!, prometheus: settings }]);
  await vi.waitFor(async () => expect(await config()).toContain('size: 1024MB'), WAIT);
  // A claim does not shrink. The operator may not have seen the settings yet: then it makes that of the flags once more.
  await vi.waitFor(async () => {
    const { metadata, spec } = await claim();
    const found = [spec?.resources?.requests?.storage, spec?.storageClassName];
    if (metadata?.deletionTimestamp === undefined && found[0] !== '2Gi') {
      await s.f.client.delete(PERSISTENT_VOLUME_CLAIMS, PROMETHEUS);
    }
    expect(found).toEqual(['2Gi', 'fast']);
  }, WAIT);
  await s.change('default', [exporter!, { ...prometheus!, prometheus: { storage: {} } }]);
  await s.ready('default');
  const { volumes = [] } = (await i.deployment()).spec?.template.spec ?? {};
  expect(volumes.find(({ name }) => name === 'storage')).toMatchObject({ emptyDir: {} });
  // With its samples.
  expect(await sizeOf()).toBe('2Gi');
});

it('come to an object that an earlier version has written without them: no object and no pod changes', async () => {
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'default' });
  await i.restartOperator(...FLAGS);
  await vi.waitFor(async () => expect(await components()).toEqual(writtenWith(9200, '15d')), WAIT);
  await s.ready('default');
  await i.measures();
  const [before, pods] = [await running(), await i.pods()];
  await s.f.stopOperator();
  const bare = writtenWith(9200, '15d').map(({ name, type, mode }): ComponentSpec => ({ name, type, mode }));
  const spec = { components: bare };
  const annotations = { [DEFAULT_STACK_HASH]: appliedHash({ spec } as KubeObject) };
  await s.f.client.mergePatch(TRAFFIC_STACKS, { name: 'default' }, { metadata: { annotations }, spec }, PERSON);
  await i.startOperator(...FLAGS);
  await vi.waitFor(async () => expect(await components()).toEqual(writtenWith(9200, '15d')), WAIT);
  await s.ready('default');
  await compared();
  expect([await running(), await i.pods()]).toEqual([before, pods]);
});
