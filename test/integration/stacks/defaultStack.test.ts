import { readFileSync } from 'node:fs';
import type { EventsV1Event, V1ConfigMap, V1OwnerReference } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { helmTemplate } from '../../../scripts/chart/helm.ts';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { FIELD_MANAGER } from '../../../src/controllers/measurement/names.ts';
import { defaultMeasurementOptions } from '../../../src/controllers/measurement/options.ts';
import { trafficStackRights } from '../../../src/controllers/trafficstack/module.ts';
import { STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import type { KubeObject, Resource } from '../../../src/runtime/client/resource.ts';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  DEPLOYMENTS,
  EVENTS,
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../../src/runtime/client/resources.ts';
import { writesOf } from '../../harness/audit.ts';
import { appliedBy } from '../../harness/appliedBy.ts';
import { operatorArgs } from './earlier/operatorArgs.ts';
import { EXPORTER, identity, Installation, OPERATOR, ownersOf, PROMETHEUS } from './installation.ts';
import { component, LEASE_RIGHTS, PERSON, unusedRights, USER, WAIT, type StackScene } from './scene.ts';

/**
 * The stack `default`, of an operator that has no stacks of users, with exactly the rights of that. It begins with the upgrade from the last version without TrafficStacks, with the default values of both charts: the
 * objects that it wrote, as a real API server stored them, see earlier/record.ts. The flags write all settings until people change the object;
 * then the object alone decides: src/controllers/trafficstack/render/defaultStack.test.ts and ignoredFlags.test.ts have the tables.
 */
const RECORDED = JSON.parse(readFileSync(new URL('earlier/testdata/a947d565.json', import.meta.url), 'utf8')) as {
  readonly objects: readonly KubeObject[];
};
const RESOURCES: readonly Resource[] = [
  ...[NAMESPACES, SERVICE_ACCOUNTS, CONFIG_MAPS, SERVICES],
  ...[DAEMONSETS, DEPLOYMENTS],
];
/** The objects that a stack takes over, by kind and name. The rest stays with the measurement: the namespace of the exporter, and the targets. */
const OF_STACK = [
  'ConfigMap prometheus-config',
  'DaemonSet node-exporter',
  'Deployment prometheus',
  'Service node-exporter',
  'Service prometheus',
  'ServiceAccount node-exporter',
  'ServiceAccount prometheus',
];
let i: Installation;
let s: StackScene;

beforeAll(async () => {
  i = await Installation.start(USER, [], [LEASE_RIGHTS], false);
  s = i.scene;
  const { metadata } = await s.f.client.get(DEPLOYMENTS, OPERATOR);
  for (const object of RECORDED.objects) {
    await s.f.client.apply(resourceOf(object), replayed(object, metadata?.uid ?? ''), { fieldManager: FIELD_MANAGER });
  }
  await i.measures();
});
afterAll(() => i.stop());

function resourceOf({ kind }: KubeObject): Resource {
  const found = RESOURCES.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`a ${kind} was recorded, and is not looked at here`);
  return found;
}

/** As that version applied it, owned by the Deployment of the operator that is here. */
function replayed(object: KubeObject, owner: string): KubeObject {
  const applied = appliedBy(object, FIELD_MANAGER);
  const owners = applied.metadata?.ownerReferences?.map((each): V1OwnerReference => ({ ...each, uid: owner }));
  return { ...applied, metadata: { ...applied.metadata, ...(owners && { ownerReferences: owners }) } };
}

/** All that this operator has written, as `kind name`, sorted. */
async function written(): Promise<Map<string, KubeObject>> {
  const lists = await Promise.all(
    RESOURCES.map(async (resource) =>
      (await s.f.client.list(resource)).map((each) => [`${resource.kind} ${each.metadata?.name}`, each] as const),
    ),
  );
  const isWritten = ({ metadata }: KubeObject): boolean =>
    metadata?.managedFields?.some(({ manager }) => manager?.startsWith('traffic-operator-') === true) === true;
  return new Map(
    lists
      .flat()
      .filter(([, each]) => isWritten(each))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** The number of changes of a pod template: the generation of a Deployment also counts its annotations. */
const revisionOf = ({ metadata }: KubeObject) =>
  metadata?.annotations?.['deployment.kubernetes.io/revision'] ?? metadata?.generation;
const uids = (objects: ReadonlyMap<string, KubeObject>) =>
  [...objects].map(([id, { metadata }]) => [id, metadata?.uid]);

it('the objects are those that the earlier version wrote, with its managed fields', async () => {
  const objects = await written();
  const ids = RECORDED.objects.map(({ kind, metadata }) => `${kind} ${metadata?.name}`);
  expect([...objects.keys()]).toEqual(ids.sort());
  expect(ids).toEqual(expect.arrayContaining(OF_STACK));
  for (const { kind, metadata } of RECORDED.objects) {
    const live = objects.get(`${kind} ${metadata?.name}`);
    expect(appliedFields(live?.metadata)).toEqual(appliedFields(metadata));
  }
});

/** Without the uids of owners, which are the keys of their references. */
function appliedFields(metadata: KubeObject['metadata']): unknown {
  const entry = metadata?.managedFields?.find((each) => each.manager === FIELD_MANAGER && each.operation === 'Apply');
  return JSON.parse(
    JSON.stringify(entry?.fieldsV1 ?? 'nothing').replaceAll(/\{\\"uid\\":\\"[^"]+\\"\}/g, 'uid'),
  ) as unknown;
}

it('the stack default adopts them: nothing is made again, and only node-exporter restarts, which leaves out virtual nodes now', async () => {
  const before = { exporter: await i.daemonSet(), prometheus: await i.deployment() };
  const pods = await i.pods();
  const objects = await written();
  expect(pods).toHaveLength(3);
  await i.startWith(operatorArgs(helmTemplate('--set=stacks.enabled=false')));
  await s.ready('default');

  expect((await s.stack('default')).spec.components).toMatchObject([
    { name: 'node-exporter', type: 'NodeExporter', mode: 'Auto' },
    { name: 'prometheus', type: 'Prometheus', mode: 'Auto' },
  ]);
  for (const name of ['node-exporter', 'prometheus']) {
    expect((await s.component(name, 'default'))?.uses).toBeUndefined();
  }
  const prometheus = await i.deployment();
  expect([...identity(prometheus), revisionOf(prometheus)]).toEqual([
    ...identity(before.prometheus),
    revisionOf(before.prometheus),
  ]);
  // The earlier version also had node-exporter on virtual nodes.
  const exporter = await i.daemonSet();
  expect(exporter.spec?.template.spec?.affinity).toBeDefined();
  delete exporter.spec?.template.spec?.affinity;
  expect(identity(exporter)).toEqual(identity(before.exporter));
  const [restarted, ...others] = await i.pods();
  expect(pods).not.toContain(restarted);
  expect(others).toEqual(pods.slice(1));
  // No object is made again, none is added, and none is left behind.
  expect(uids(await written())).toEqual(uids(objects));
});

it('the stack is the owner of what it has adopted, and of nothing else', async () => {
  const objects = await written();
  const owned = [...objects].filter(([, each]) => each.metadata?.labels?.[STACK_LABEL] === 'default');
  expect(owned.map(([id]) => id)).toEqual(OF_STACK);
  for (const [, each] of owned) expect(ownersOf(each)).toEqual(['TrafficStack default']);
  const { status } = await s.stack('default');
  const inventory = status?.inventory?.flatMap((entry) => entry.objects.map(({ kind, name }) => `${kind} ${name}`));
  expect(inventory?.sort()).toEqual(OF_STACK);
  // One manager continues: no field is left to another manager, which nobody would ever change.
  for (const [, each] of owned) {
    const managers = each.metadata?.managedFields?.flatMap(({ manager, operation }) =>
      operation === 'Apply' ? [manager] : [],
    );
    expect(managers).toEqual([FIELD_MANAGER]);
  }
});

it('nothing is deleted, and afterwards nothing is written', async () => {
  const writes = () =>
    writesOf(s.f.controlPlane, USER).filter(({ resource }) => /^(daemonsets|deployments)$/.test(resource));
  expect(writesOf(s.f.controlPlane, USER).filter(({ verb }) => verb.startsWith('delete'))).toEqual([]);
  expect(
    writes()
      .map(({ verb, resource }) => `${verb} ${resource}`)
      .sort(),
  ).toEqual(['patch daemonsets', 'patch deployments']);
  // A new process sees all of it unchanged.
  await s.f.stopOperator();
  await i.startWith(operatorArgs(helmTemplate('--set=stacks.enabled=false')));
  await s.ready('default');
  await vi.waitFor(async () => expect((await s.component('prometheus', 'default'))?.state).toBe('Ready'), WAIT);
  expect(writes()).toHaveLength(2);
});

it('a virtual node gets no pod of node-exporter, and keeps no revision of it from being ready', async () => {
  const name = 'fargate';
  const labels = { 'kubernetes.io/os': 'linux', 'eks.amazonaws.com/compute-type': 'fargate' };
  // Its pods would never be ready: nobody reports on them.
  s.kubelet.off.add(name);
  await s.f.client.create(NODES, { metadata: { name, labels } });
  await i.restartOperator('--node-exporter-image=node-exporter:virtual');
  const imageOf = async () => (await i.daemonSet()).spec?.template.spec?.containers[0]?.image;
  await vi.waitFor(async () => expect(await imageOf()).toBe('node-exporter:virtual'), WAIT);
  await s.ready('default');
  expect(await s.component('node-exporter', 'default')).toMatchObject({ state: 'Ready' });
  expect(await s.condition('Degraded', 'default')).toMatchObject({ status: 'False' });
  expect((await i.daemonSet()).status).toMatchObject({ desiredNumberScheduled: 1, updatedNumberScheduled: 1 });
  await s.f.removeNode(name);
});

const { exporter, prometheus } = defaultMeasurementOptions('');
const FLAGS = ['--node-exporter-port=9300', '--prometheus-retention=30d'];
/** The object does not have it. */
const IMAGE = '--node-exporter-image=node-exporter:next';
/** The components that the operator writes with a port and a retention, and else the defaults. */
const writtenWith = (port: number, retention: string): [ComponentSpec, ComponentSpec] => [
  {
    ...{ name: 'node-exporter', type: 'NodeExporter', mode: 'Auto' },
    nodeExporter: { port, resources: exporter.resources },
  },
  {
    ...{ name: 'prometheus', type: 'Prometheus', mode: 'Auto' },
    prometheus: { resources: prometheus.resources, scrapeInterval: '1s', retention, storage: {} },
  },
];
const components = async () => (await s.stack('default')).spec.components;
const portOfExporter = async () => (await i.daemonSet()).spec?.template.spec?.containers[0]?.ports?.[0]?.containerPort;
const config = async () => {
  const found = await s.f.client.get<V1ConfigMap>(CONFIG_MAPS, { ...PROMETHEUS, name: 'prometheus-config' });
  return found.data?.['prometheus.yml'];
};
/** A correction proves that the operator compared the whole stack. */
const compared = async (): Promise<void> => {
  for (const ref of [EXPORTER, PROMETHEUS]) {
    await s.f.client.mergePatch(SERVICES, ref, { metadata: { labels: { [STACK_LABEL]: 'x' } } }, PERSON);
    await vi.waitFor(async () => {
      expect((await s.f.client.get(SERVICES, ref)).metadata?.labels).toMatchObject({ [STACK_LABEL]: 'default' });
    }, WAIT);
  }
};
const workloads = async () => [identity(await i.daemonSet()), identity(await i.deployment())];

it('the flags decide while nobody has changed the object: with another image, pods are replaced once', async () => {
  const { generation = 0 } = (await i.daemonSet()).metadata ?? {};
  await i.restartOperator(...FLAGS, IMAGE);
  await vi.waitFor(async () => expect(await components()).toEqual(writtenWith(9300, '30d')), WAIT);
  await vi.waitFor(
    async () => expect([await portOfExporter(), await config()]).toEqual([9300, has('time: 30d')]),
    WAIT,
  );
  await s.ready('default');
  const { metadata, spec } = await i.daemonSet();
  const image = spec?.template.spec?.containers[0]?.image;
  expect([metadata?.generation, image]).toEqual([generation + 1, 'node-exporter:next']);
});

const has = (text: string) => expect.stringContaining(text) as string;

it('one that is deleted is made again, with all that it had', async () => {
  const { uid } = (await s.stack('default')).metadata ?? {};
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'default' });
  await vi.waitFor(async () => expect((await s.stack('default')).metadata?.uid).not.toBe(uid), WAIT);
  await s.ready('default');
  await i.measures();
  expect(await components()).toEqual(writtenWith(9300, '30d'));
  expect(ownersOf(await i.daemonSet())).toEqual(['TrafficStack default']);
});

it('people who edit it change what runs; with other flags nothing changes then, and an Event names what these say', async () => {
  const [ofExporter, ofPrometheus] = writtenWith(9400, '7d');
  await s.change('default', [ofExporter, ofPrometheus]);
  await s.ready('default');
  expect([await portOfExporter(), await config()]).toEqual([9400, has('time: 7d')]);
  const [before, text, pods] = [await workloads(), await config(), await i.pods()];
  await i.restartOperator(IMAGE, '--node-exporter=false', '--prometheus-storage-size=4Gi');
  await s.ready('default');
  await compared();
  expect([await workloads(), await config(), await i.pods()]).toEqual([before, text, pods]);
  expect(await components()).toEqual([ofExporter, ofPrometheus]);
  await expect(s.f.client.get(PERSISTENT_VOLUME_CLAIMS, PROMETHEUS)).rejects.toSatisfy(isNotFound);
  await vi.waitFor(async () => {
    const events = await s.f.client.list<EventsV1Event & KubeObject>(EVENTS, { namespace: 'default' });
    const found = events.filter(({ reason, regarding }) => reason === 'FlagsIgnored' && regarding?.name === 'default');
    const begin = 'somebody has changed the spec, so it decides, and not the flags';
    expect(found.map(({ note }) => note).sort()).toEqual([
      `${begin}: NodeExporter is a component; prometheus.retention is "7d", not "24h"; ` +
        'prometheus.storage is {}, not {"size":"4Gi"}',
      // At the change itself.
      `${begin}: nodeExporter.port is 9400, not 9300; prometheus.retention is "7d", not "30d"`,
    ]);
  }, WAIT);
});

it('Prometheus has the volume of the object, whatever the flags say, and the claim stays without it', async () => {
  const [ofExporter, ofPrometheus] = await components();
  const withStorage = (storage: object) =>
    s.change('default', [ofExporter!, { ...ofPrometheus!, prometheus: { storage } }]);
  await withStorage({ size: '2Gi', storageClassName: 'fast' });
  const claim = async () => (await s.f.client.get(PERSISTENT_VOLUME_CLAIMS, PROMETHEUS)).spec;
  await vi.waitFor(async () => {
    expect(await claim()).toMatchObject({ storageClassName: 'fast', resources: { requests: { storage: '2Gi' } } });
    expect(await config()).toContain('size: 1024MB');
  }, WAIT);
  await withStorage({});
  await s.ready('default');
  const { volumes = [] } = (await i.deployment()).spec?.template.spec ?? {};
  expect(volumes.find(({ name }) => name === 'storage')).toMatchObject({ emptyDir: {} });
  // With its samples.
  expect((await claim())?.storageClassName).toBe('fast');
});

it('a stack of a user is Stalled, and nothing of it is written, nor of a component of theirs in this one', async () => {
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'default' });
  await i.restartOperator();
  await vi.waitFor(async () => expect(await components()).toHaveLength(2), WAIT);
  await s.ready('default');
  const own = await components();
  const theirs = component('web');
  await s.create('main', [theirs]);
  const stalled = async (name: string, message: string) =>
    vi.waitFor(async () => {
      const found = await s.condition('Stalled', name);
      expect(found).toMatchObject({ status: 'True', reason: 'StacksNotEnabled', message });
    }, WAIT);
  await stalled('main', 'Stacks of users are off: set stacks.enabled of the chart (--stacks)');
  await s.change('default', [...own, theirs]);
  await stalled(
    'default',
    'Stacks of users are off, and these components need them: web (Workload). Remove them, or set stacks.enabled of the chart (--stacks)',
  );
  await expect(s.f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'web' })).rejects.toSatisfy(isNotFound);
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack('main')).rejects.toSatisfy(isNotFound), WAIT);
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'default' });
  await s.ready('default');
});

it('the stack goes when the flags deploy nothing', async () => {
  await i.restartOperator('--node-exporter=false', `--prometheus-url=${s.f.prometheusUrl}`);
  await vi.waitFor(() => expect(s.stack('default')).rejects.toSatisfy(isNotFound), WAIT);
  await i.exporterIsGone();
});

it('uses each of its rights on TrafficStacks, and needs no others', () => {
  const rules = trafficStackRights().controller.cluster;
  expect(unusedRights(s, USER, (resource) => /^trafficstacks(\/status)?$/.test(resource), rules)).toEqual([]);
});
