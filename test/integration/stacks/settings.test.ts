import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  TRAFFIC_STACKS,
  type WorkloadComponent,
  type TrafficStackSpec,
} from '../../../src/api/trafficstack/trafficStack.ts';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  DEPLOYMENTS,
  NODES,
  POD_DISRUPTION_BUDGETS,
  PODS,
  SERVICES,
  STATEFULSETS,
} from '../../../src/runtime/client/resources.ts';
import { writesOf } from '../../harness/audit.ts';
import { component, PERSON, startScene, unusedRights, USER, WAIT, type StackScene } from './scene.ts';

/** The parts of components except their pods: files, conditions of readiness, claims, and how they are spread. */
const IN_DEFAULT = { namespace: 'default' };
const ADDRESSES = '${components.db.addresses.map(a, a + ":" + string(components.db.port)).join(",")}';
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
});
afterAll(() => s.stop());

const db = (replicas: number, workload: Partial<WorkloadComponent['workload']> = {}): WorkloadComponent =>
  component('db', {
    kind: 'StatefulSet',
    workload: { replicas, services: [{ headless: true, ports: [{ port: 5432 }] }], ...workload },
  });
const api = (over: Parameters<typeof component>[1] = {}): WorkloadComponent =>
  component('api', {
    dependsOn: ['db'],
    ...over,
    workload: { config: [{ name: 'etc', mountPath: '/etc/api', files: { 'db.conf': `db=${ADDRESSES}\n` } }] },
  });
const create = (name: string, spec: TrafficStackSpec) =>
  s.f.client.create(TRAFFIC_STACKS, { metadata: { name }, spec });
const change = (name: string, spec: Partial<TrafficStackSpec>) =>
  s.f.client.mergePatch(TRAFFIC_STACKS, { name }, { spec }, PERSON);
const files = async () =>
  (await s.f.client.list(CONFIG_MAPS, IN_DEFAULT)).filter(({ metadata }) => metadata?.name?.startsWith('api-'));
const deployment = (name: string) => s.f.client.get(DEPLOYMENTS, { ...IN_DEFAULT, name });

/** The writes of the operator since a time, except status and events. An earlier write may be logged later. @param since of Date.now() */
const objectsWritten = (since: number) =>
  writesOf(s.f.controlPlane, USER)
    .filter(({ at }) => at >= since)
    .filter(({ resource }) => !resource.startsWith(TRAFFIC_STACKS.plural) && resource !== 'events');

it('renders files with the addresses of what a component depends on, before its pods begin', async () => {
  await create('main', { components: [api(), db(2)] });
  await s.ready();
  const [file, ...others] = await files();
  expect(others).toEqual([]);
  expect(file?.data).toEqual({ 'db.conf': 'db=db-0.db.default.svc:5432,db-1.db.default.svc:5432\n' });
  expect((await deployment('api')).spec?.template.spec?.volumes).toMatchObject([
    { configMap: { name: file?.metadata?.name } },
  ]);
  const written = objectsWritten(0).flatMap(({ resource, name }) => (name.startsWith('api') ? [resource] : []));
  expect(written.slice(0, 2)).toEqual(['configmaps', 'deployments']);
});

it('replaces the pods when a file changes, and removes the old files when they are gone', async () => {
  const [old] = await files();
  const before = await deployment('api');
  await s.change('main', [api(), db(3)]);
  await s.ready();
  await vi.waitFor(async () => {
    const now = await files();
    expect(now.map(({ data }) => data?.['db.conf'])).toEqual([expect.stringContaining('db-2.db.default.svc:5432')]);
    expect(now[0]?.metadata?.name).not.toBe(old?.metadata?.name);
  }, WAIT);
  const after = await deployment('api');
  expect(after.metadata?.uid).toBe(before.metadata?.uid);
  expect(after.metadata?.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
});

it('puts back a file that somebody has changed or deleted', async () => {
  const [file] = await files();
  const ref = { ...IN_DEFAULT, name: file?.metadata?.name ?? '' };
  await s.f.client.mergePatch(CONFIG_MAPS, ref, { data: { 'db.conf': 'db=nowhere' } }, PERSON);
  await vi.waitFor(async () => expect((await files())[0]?.data).toEqual(file?.data), WAIT);
  await s.f.client.delete(CONFIG_MAPS, ref);
  await vi.waitFor(async () => expect((await files())[0]?.data).toEqual(file?.data), WAIT);
});

it('is ready when an expression over the live objects is true, and names it until then', async () => {
  const ready = { expression: 'workload.metadata.?annotations["example.com/open"].orValue("") == "yes"' };
  await s.change('main', [api({ ready }), db(3), component('web', { dependsOn: ['api'] })]);
  await vi.waitFor(async () => {
    expect(await s.component('api')).toMatchObject({ state: 'Progressing', reason: 'NotReadyYet' });
    expect((await s.component('api'))?.message).toContain('is false');
    expect(await s.component('web')).toMatchObject({ state: 'Waiting', waitingOn: { component: 'api' } });
  }, WAIT);
  const open = { metadata: { annotations: { 'example.com/open': 'yes' } } };
  await s.f.client.mergePatch(DEPLOYMENTS, { ...IN_DEFAULT, name: 'api' }, open, PERSON);
  await s.ready();
});

it('is ready when Prometheus says so, and Unknown while it does not answer', async () => {
  const ready = (query: string) => [api({ ready: { query } }), db(3)];
  await s.change('main', ready('no_such_metric'));
  await vi.waitFor(async () => {
    const { reason, message } = (await s.component('api')) ?? {};
    expect([reason, message]).toEqual([
      'NotReadyYet',
      expect.stringContaining('ready.query "no_such_metric" gives no series'),
    ]);
  }, WAIT);
  await s.change('main', ready('count(up) > 0'));
  await s.ready();
  await s.f.stopPrometheus();
  await vi.waitFor(async () => expect(await s.component('api')).toMatchObject({ state: 'Unknown' }), WAIT);
  await s.f.startPrometheus();
  await s.ready();
});

it('writes nothing while nothing changes', async () => {
  await s.change('main', [api(), db(3)]);
  await s.ready();
  const since = Date.now();
  const note = { metadata: { annotations: { 'example.com/note': 'x' } } };
  for (const { metadata } of await s.f.client.list(PODS, IN_DEFAULT)) {
    await s.f.client.mergePatch(PODS, { ...IN_DEFAULT, name: metadata?.name ?? '' }, note, PERSON);
  }
  await s.f.client.mergePatch(DEPLOYMENTS, { ...IN_DEFAULT, name: 'api' }, note, PERSON);
  // A change that is written proves that those before were seen.
  await s.change('main', [api({ deadline: '9m' }), db(3)]);
  await s.ready();
  expect(objectsWritten(since)).toEqual([]);
});

it('has one pod for each selected node, with a budget, and follows the nodes', async () => {
  const highAvailability = { nodeSelector: { role: 'master' } };
  await create('spread', { highAvailability, components: [component('web')] });
  await vi.waitFor(async () => {
    const message = 'component web: no node has all labels that its pods select: role=master';
    expect(await s.condition('Stalled', 'spread')).toMatchObject({
      status: 'True',
      reason: 'InvalidComponents',
      message,
    });
  }, WAIT);
  for (const name of ['m1', 'm2']) {
    await s.f.client.create(NODES, { metadata: { name, labels: { role: 'master' } } });
  }
  await s.ready('spread');
  const { spec } = await deployment('web');
  const { topologySpreadConstraints: constraints, affinity } = spec?.template.spec ?? {};
  expect([spec?.replicas, constraints?.length]).toEqual([2, 1]);
  const ref = { ...IN_DEFAULT, name: 'web' };
  const budget = await s.f.client.get(POD_DISRUPTION_BUDGETS, ref);
  expect(budget.spec).toMatchObject({ maxUnavailable: 1 });
  const labels = { 'traffic.example.com/stack': 'spread', 'traffic.example.com/component': 'web' };
  const ownPods = { matchLabels: labels };
  expect([budget.spec?.selector, constraints?.[0]?.labelSelector]).toEqual([ownPods, ownPods]);
  const topologyKey = 'kubernetes.io/hostname';
  expect(affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution).toEqual([
    { weight: 100, podAffinityTerm: { topologyKey, labelSelector: ownPods } },
  ]);
  // With these labels, the selectors find the pods.
  const selected = (await s.f.client.list(PODS, IN_DEFAULT)).filter(({ metadata }) =>
    Object.entries(labels).every(([key, value]) => metadata?.labels?.[key] === value),
  );
  expect(selected.length).toBe(2);
  await s.f.client.mergePatch(POD_DISRUPTION_BUDGETS, ref, { spec: { maxUnavailable: 2 } }, PERSON);
  await vi.waitFor(async () => {
    expect((await s.f.client.get(POD_DISRUPTION_BUDGETS, ref)).spec).toMatchObject({ maxUnavailable: 1 });
  }, WAIT);
  await s.f.client.create(NODES, { metadata: { name: 'm3', labels: { role: 'master' } } });
  await vi.waitFor(async () => expect((await deployment('web')).spec?.replicas).toBe(3), WAIT);
  await s.ready('spread');
  await change('spread', { highAvailability: { replicas: 1 } });
  await s.ready('spread');
  await vi.waitFor(async () => {
    expect(await s.f.client.list(POD_DISRUPTION_BUDGETS, IN_DEFAULT)).toEqual([]);
  }, WAIT);
});

describe('the fields of a workload that Kubernetes knows', () => {
  const rolling = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } };
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' as const },
    { name: 'sctp', port: 54, protocol: 'SCTP' as const },
  ];
  /** @param strategy of the Deployment */
  const fields = (strategy?: object): WorkloadComponent[] => [
    component('field-web', {
      workload: { ...(strategy && { strategy }), minReadySeconds: 5, services: [{ ports }] },
    }),
    component('field-db', {
      kind: 'StatefulSet',
      workload: {
        ...{ replicas: 3, podManagementPolicy: 'Parallel' },
        // The CRD has no partition, with which a change would never end.
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } as object,
      },
    }),
    component('field-agent', {
      kind: 'DaemonSet',
      workload: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
    }),
  ];
  const ref = (name: string) => ({ ...IN_DEFAULT, name });
  const strategyNow = async () => (await deployment('field-web')).spec?.strategy;

  it('reach the API server as they are', async () => {
    await s.create('fields', fields({ type: 'Recreate' }));
    await s.ready('fields');
    const { spec } = await deployment('field-web');
    expect([spec?.strategy, spec?.minReadySeconds]).toEqual([{ type: 'Recreate' }, 5]);
    const { spec: service } = await s.f.client.get(SERVICES, ref('field-web'));
    const byName = service?.ports?.map(({ name, port, targetPort, protocol }) => [name, port, targetPort, protocol]);
    expect(byName).toEqual([
      ['dns', 53, 53, 'UDP'],
      ['sctp', 54, 54, 'SCTP'],
    ]);
    const { spec: ofDb } = await s.f.client.get(STATEFULSETS, ref('field-db'));
    expect([ofDb?.podManagementPolicy, ofDb?.updateStrategy]).toEqual([
      'Parallel',
      { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    ]);
    const { spec: ofAgent } = await s.f.client.get(DAEMONSETS, ref('field-agent'));
    expect(ofAgent?.updateStrategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
    });
  });

  it('change, and the strategy has its default again when it leaves the spec', async () => {
    const uid = (await deployment('field-web')).metadata?.uid;
    for (const strategy of [rolling, { type: 'Recreate' }]) {
      await s.change('fields', fields(strategy));
      await vi.waitFor(async () => expect(await strategyNow()).toEqual(strategy), WAIT);
    }
    await s.change('fields', fields());
    await vi.waitFor(async () => {
      expect(await strategyNow()).toEqual({
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' },
      });
    }, WAIT);
    await s.ready('fields');
    expect((await deployment('field-web')).metadata?.uid).toBe(uid);
  });
});

it('a Service gets an address and loses it with `headless`, and the files name the port that clients use then', async () => {
  const headed = (headless: boolean): WorkloadComponent[] => [
    component('head-db', {
      kind: 'StatefulSet',
      workload: { services: [{ ...(headless && { headless }), ports: [{ port: 5432, targetPort: 15_432 }] }] },
    }),
    component('head-web', {
      dependsOn: ['head-db'],
      workload: {
        config: [{ name: 'etc', mountPath: '/etc/web', files: { port: '${string(components["head-db"].port)}' } }],
      },
    }),
  ];
  const seen = async () => {
    const { spec } = await s.f.client.get(SERVICES, { ...IN_DEFAULT, name: 'head-db' });
    const all = await s.f.client.list(CONFIG_MAPS, IN_DEFAULT);
    const ports = all.flatMap(({ metadata, data }) => (metadata?.name?.startsWith('head-web-') ? [data?.port] : []));
    return [spec?.clusterIP === 'None', (spec?.clusterIP ?? '') !== '', ports];
  };
  await s.create('headed', headed(true));
  await s.ready('headed');
  expect(await seen()).toEqual([true, true, ['15432']]);
  for (const [headless, port] of [
    [false, '5432'],
    [true, '15432'],
  ] as const) {
    await s.change('headed', headed(headless));
    await s.ready('headed');
    // The old file goes when the new pods are ready.
    await vi.waitFor(async () => expect(await seen()).toEqual([headless, true, [port]]), WAIT);
  }
});

it('uses each of its rights on files and budgets', () => {
  const isOfSettings = (resource: string): boolean => ['configmaps', 'poddisruptionbudgets'].includes(resource);
  // A server-side apply that creates an object needs the right, and is a patch.
  const unseen = ['create configmaps', 'create poddisruptionbudgets'];
  expect(unusedRights(s, USER, isOfSettings)).toEqual(unseen);
});
