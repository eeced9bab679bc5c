import type { V1Container, V1PodSpec } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { cleanUp } from '../../../src/controllers/trafficstack/module.ts';
import { FINALIZER, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { DEPLOYMENTS, PODS, SERVICES, STATEFULSETS } from '../../../src/runtime/client/resources.ts';
import { createLogger } from '../../../src/runtime/process/logger.ts';
import { writesOf } from '../../harness/audit.ts';
import { kubectl } from '../../harness/kubectl.ts';
import { sleep } from '../../harness/measured.ts';
import { giveRoom } from '../injection/world.ts';
import { NODE } from './kubelet.ts';
import { component, PERSON, unusedRights, startScene, USER, WAIT, type StackScene } from './scene.ts';
import { ALL } from './shop.ts';

/** The life of a stack, also with changes of its objects by others. */
const IMAGE_FAULT = { reason: 'ImagePullBackOff', message: 'Back-off pulling image "db:1"' };
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
});
afterAll(() => s.stop());

const state = async (name: string) => (await s.component(name))?.state;

it('shows the state of each component at once, and names the root of what they wait for', async () => {
  s.kubelet.faults.set('db', IMAGE_FAULT);
  await s.create('main', ALL);
  await vi.waitFor(async () => {
    const db = { state: 'Progressing', reason: 'ImagePullBackOff', replicas: 2, readyReplicas: 0, version: 'db:1' };
    expect(await s.component('db')).toMatchObject(db);
    expect(await s.component('agent')).toMatchObject({ state: 'Ready', replicas: 1, readyReplicas: 1 });
    const waitingOn = {
      ...{ component: 'db', what: 'StatefulSet default/db' },
      observed:
        'Progressing: StatefulSet default/db: 0 of 2 pods are available; pod default/db-0, container db: ImagePullBackOff: ' +
        'Back-off pulling image "db:1"',
    };
    expect(await s.component('api')).toMatchObject({ state: 'Waiting', blockedBy: ['db'], waitingOn });
    expect(await s.component('web')).toMatchObject({ state: 'Waiting', blockedBy: ['api'], waitingOn });
  }, WAIT);
  expect(await s.workloads()).toEqual(['agent', 'db']);
  expect(await s.stack()).toMatchObject({ status: { summary: '1/4' }, metadata: { finalizers: [FINALIZER] } });
  expect(await s.condition('Ready')).toMatchObject({ status: 'False', reason: 'InProgress' });
  expect(await s.condition('Progressing')).toMatchObject({ status: 'True' });
});

it('creates a component when all that it depends on is ready, and not before', async () => {
  s.kubelet.faults.set('api', { reason: 'CrashLoopBackOff', message: 'back-off restarting' });
  s.kubelet.faults.delete('db');
  await vi.waitFor(async () => expect(await state('api')).toBe('Progressing'), WAIT);
  expect([await state('db'), await state('web')]).toEqual(['Ready', 'Waiting']);
  // The status is written before the objects.
  await vi.waitFor(async () => expect(await s.workloads()).toContain('api'), WAIT);
  expect(await s.workloads()).toEqual(['agent', 'api', 'db']);
  s.kubelet.faults.delete('api');
  await s.ready();
  const created = s.writes();
  expect(created.slice(0, 2).sort()).toEqual(['patch daemonsets/agent', 'patch statefulsets/db']);
  expect(created.slice(2)).toEqual(['patch deployments/api', 'patch deployments/web']);
  await vi.waitFor(async () => {
    expect((await s.f.events('main')).map(({ reason }) => reason)).toContain('AllReady');
    const pods = await s.f.client.list(PODS);
    expect(pods.map(({ metadata }) => metadata?.labels?.[STACK_LABEL])).toEqual(Array(6).fill('main'));
  }, WAIT);
});

it('has an Event for each step of a component, in its order', async () => {
  await s.create('small', [component('then', { dependsOn: ['first'] }), component('first')]);
  await s.ready('small');
  await vi.waitFor(async () => {
    const events = await s.f.events('small');
    // Two of one microsecond have names in their order.
    const at = ({ eventTime, metadata }: (typeof events)[number]) => `${String(eventTime)} ${metadata?.name}`;
    const inOrder = events.toSorted((one, other) => (at(one) < at(other) ? -1 : 1));
    const lines = inOrder.map(({ type, reason, note }) => `${type} ${reason}: ${note}`);
    expect(lines.filter((line) => !line.includes('then is Waiting'))).toEqual([
      'Normal ComponentStarted: first is Progressing: to create: Deployment default/first',
      'Normal ComponentReady: first is Ready: Deployment default/first: 1 of 1 pods are available',
      'Normal ComponentStarted: then is Progressing: to create: Deployment default/then',
      'Normal ComponentReady: then is Ready: Deployment default/then: 1 of 1 pods are available',
      expect.stringMatching(/^Normal AllReady: /) as string,
    ]);
    // At the time of the first one.
    const waits = 'waits for first: Progressing: to create: Deployment default/first';
    expect(lines.slice(0, 2)).toContain(`Normal ComponentWaiting: then is Waiting: ${waits}`);
  }, WAIT);
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'small' });
  await vi.waitFor(() => expect(s.stack('small')).rejects.toSatisfy(isNotFound), WAIT);
});

it('writes nothing while nothing changes, also after a restart, not even an Event', async () => {
  await s.f.stopOperator();
  const before = writesOf(s.f.controlPlane, USER).length;
  await s.startOperator();
  await vi.waitFor(async () => {
    const metrics = await (await fetch(s.f.operator().metricsUrl)).text();
    expect(metrics).toMatch(
      /^traffic_operator_reconcile_duration_seconds_count\{controller="trafficstack"[^\n]* [1-9]/m,
    );
  }, WAIT);
  // A write would follow within milliseconds.
  await sleep(1_000);
  expect(writesOf(s.f.controlPlane, USER).slice(before)).toEqual([]);
});

const WEB_REF = { namespace: 'default', name: 'web' };
/** How often others had changed a field, by the note of the Event. */
async function drifts(): Promise<Record<string, number>> {
  const events = (await s.f.events('main')).filter(({ reason }) => reason === 'DriftCorrected');
  return Object.fromEntries(events.map(({ note, series }) => [note ?? '', series?.count ?? 1] as const));
}

it('corrects each field of its own that others change, once, names who, and makes deleted objects again', async () => {
  const before = s.writes().length;
  const containers = [{ name: 'web', image: 'another:1' }];
  const change = (fieldManager: string) =>
    s.f.client.mergePatch(DEPLOYMENTS, WEB_REF, { spec: { template: { spec: { containers } } } }, { fieldManager });
  // No fields of the stack: another owner, such as an autoscaler, may have them.
  const notOfStack = { metadata: { annotations: { team: 'a' } }, spec: { replicas: 3, revisionHistoryLimit: 3 } };
  await s.f.client.mergePatch(DEPLOYMENTS, WEB_REF, notOfStack, PERSON);
  const isCorrected = (drift: Record<string, number>) =>
    vi.waitFor(async () => {
      const { spec } = await s.f.client.get(DEPLOYMENTS, WEB_REF);
      expect(spec?.template.spec?.containers[0]?.image).toBe('web:1');
      expect([spec?.replicas, spec?.revisionHistoryLimit]).toEqual([3, 3]);
      expect(await drifts()).toEqual(drift);
    }, WAIT);
  const had = (manager: string, object: string, path: string) =>
    `${object}: the field manager ${manager} had changed ${path}`;
  const image = '.spec.template.spec.containers[web].image';
  const byRival = had('rival', 'Deployment default/web', image);
  await change('rival');
  await isCorrected({ [byRival]: 1 });
  await change('rival');
  await isCorrected({ [byRival]: 2 });
  const replicas = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db' }, spec: { replicas: 5 } };
  const args = ['apply', '--server-side', '--force-conflicts', '--field-manager=gitops', '-f', '-'];
  await kubectl(s.f.controlPlane, args, JSON.stringify(replicas));
  await isCorrected({ [byRival]: 2, [had('gitops', 'StatefulSet default/db', '.spec.replicas')]: 1 });
  expect((await s.f.client.get(STATEFULSETS, { ...WEB_REF, name: 'db' })).spec?.replicas).toBe(2);
  await s.ready();
  expect(s.writes().slice(before)).toEqual(['patch deployments/web', 'patch deployments/web', 'patch statefulsets/db']);
  await s.f.client.delete(SERVICES, { namespace: 'default', name: 'api' });
  await s.f.client.delete(STATEFULSETS, { namespace: 'default', name: 'db' });
  await vi.waitFor(async () => {
    await s.f.client.get(SERVICES, { namespace: 'default', name: 'api' });
    await s.f.client.get(STATEFULSETS, { namespace: 'default', name: 'db' });
  }, WAIT);
  await s.ready();
});

it('is degraded while pods of a component that was ready are not available', async () => {
  s.kubelet.faults.set('api', { reason: 'CrashLoopBackOff', message: 'back-off restarting' });
  await vi.waitFor(async () => {
    expect(await s.component('api')).toMatchObject({ state: 'Degraded', reason: 'CrashLoopBackOff', readyReplicas: 0 });
    expect(await state('web')).toBe('Ready');
    expect(await s.condition('Degraded')).toMatchObject({ status: 'True', reason: 'ComponentDegraded' });
  }, WAIT);
  await vi.waitFor(async () => {
    const events = (await s.f.events('main')).map(({ type, reason }) => `${type} ${reason}`);
    expect(events).toEqual(expect.arrayContaining(['Normal AllReady', 'Warning ComponentDegraded']));
  }, WAIT);
  s.kubelet.faults.delete('api');
  await s.ready();
  await vi.waitFor(async () => {
    const notes = (await s.f.events('main')).map(({ reason, note }) => `${reason} ${note}`);
    expect(notes).toContain('ComponentRecovered api is Ready again: Deployment default/api: 2 of 2 pods are available');
    expect(notes.filter((note) => note.startsWith('ComponentDegraded api is Degraded: '))).not.toEqual([]);
  }, WAIT);
});

it('has no finalizer after a clean-up, and the components go on running', async () => {
  await s.f.stopOperator();
  const logger = createLogger('silent');
  await cleanUp({ client: s.f.client, logger });
  await cleanUp({ client: s.f.client, logger });
  expect((await s.stack()).metadata?.finalizers).toBeUndefined();
  expect(await s.workloads()).toEqual(['agent', 'api', 'db', 'web']);
  await s.startOperator();
  await vi.waitFor(async () => expect((await s.stack()).metadata?.finalizers).toEqual([FINALIZER]), WAIT);
});

describe('owner references that others take away', () => {
  const uids = async () => {
    const live = [
      await s.f.client.get(STATEFULSETS, { ...WEB_REF, name: 'db' }),
      await s.f.client.get(DEPLOYMENTS, WEB_REF),
    ];
    const pods = (await s.f.client.list(PODS)).map(({ metadata }) => metadata?.uid).sort();
    return [live.map(({ metadata }) => metadata?.uid), pods];
  };
  const owners = async () =>
    (await s.f.client.get(DEPLOYMENTS, WEB_REF)).metadata?.ownerReferences?.map(({ kind }) => kind);
  const orphan = (...args: string[]) =>
    kubectl(s.f.controlPlane, ['delete', 'trafficstack', 'main', '--cascade=orphan', '--timeout=120s', ...args]);

  it('are restored, and no pod restarts', async () => {
    const before = await uids();
    await s.f.client.mergePatch(DEPLOYMENTS, WEB_REF, { metadata: { ownerReferences: null } }, PERSON);
    await vi.waitFor(async () => expect(await owners()).toEqual(['TrafficStack']), WAIT);
    await s.ready();
    expect(await uids()).toEqual(before);
  });

  it('with --cascade=orphan, leave all objects and pods, which a stack of the same name takes over', async () => {
    const before = await uids();
    await orphan();
    await expect(s.stack()).rejects.toSatisfy(isNotFound);
    expect(await uids()).toEqual(before);
    await s.create('main', ALL);
    await s.ready();
    expect([await owners(), await uids()]).toEqual([['TrafficStack'], before]);
  });

  it('the same while the operator does not run', async () => {
    await s.f.stopOperator();
    await orphan('--wait=false');
    await vi.waitFor(async () => expect(await owners()).toBeUndefined(), WAIT);
    const before = await uids();
    await s.startOperator();
    await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
    expect(await uids()).toEqual(before);
    await s.create('main', ALL);
    await s.ready();
  });
});

it('refuses a small stack whose expression expands without end, and the next stack gets ready', async () => {
  const names = Array.from({ length: 20 }, (_, n) => `v${n}`);
  const binds = names.map((name, n) => `cel.bind(${name}, ${n === 0 ? '[1]' : `v${n - 1} + v${n - 1}`}, `);
  const loops = 'v19.all(a, v19.all(b, a == b))';
  const text = `\${${binds.join('')}${loops}${')'.repeat(names.length)}}`;
  expect(text.length).toBeLessThan(610);
  const config = [{ name: 'etc', mountPath: '/etc/hostile', files: { text } }];
  await s.create('hostile', [component('hostile', { workload: { config } })]);
  await vi.waitFor(async () => {
    const message = expect.stringContaining('costs more than 100000 steps') as string;
    const stalled = { status: 'True', reason: 'InvalidComponents', message };
    expect(await s.condition('Stalled', 'hostile')).toMatchObject(stalled);
  }, WAIT);
  await s.create('next', [component('next')]);
  await s.ready('next');
  expect(await s.workloads()).not.toContain('hostile');
  for (const name of ['hostile', 'next']) {
    await s.f.client.delete(TRAFFIC_STACKS, { name });
    await vi.waitFor(() => expect(s.stack(name)).rejects.toSatisfy(isNotFound), WAIT);
  }
});

it('is deleted in the reverse order, also over a restart, and leaves nothing', async () => {
  const before = s.deletions().length;
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await s.restartOperator();
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  expect(await s.workloads()).toEqual([]);
  expect(await s.f.client.list(PODS)).toEqual([]);
  expect((await s.f.client.list(SERVICES)).map(({ metadata }) => metadata?.name)).toEqual(['kubernetes']);
  const order = s.deletions().slice(before);
  expect([...new Set(order.filter((name) => name !== 'agent'))]).toEqual(['web', 'api', 'db']);
});

describe('a component with another name that needs what the old one has', () => {
  /** A component, and one that depends on it. */
  const ledger = (name: string, version: number, spec: Partial<V1PodSpec>): ComponentSpec[] => [
    component(name, { workload: { podTemplate: { spec: { ...spec, containers: [container(name, spec)] } } } }),
    component('reader', { image: `reader:${version}`, dependsOn: [name] }),
  ];
  const container = (name: string, { nodeName }: Partial<V1PodSpec>): V1Container => ({
    ...{ name, image: 'ledger:1' },
    ...(nodeName === undefined && { ports: [{ containerPort: 80, hostPort: 9180 }] }),
  });
  const deployment = (name: string) => s.f.client.get(DEPLOYMENTS, { namespace: 'default', name });
  const expectGone = (name: string) =>
    vi.waitFor(() => expect(deployment(name)).rejects.toSatisfy(isNotFound), { ...WAIT, timeout: 180_000 });

  it('starts after the old one is removed, if no node has the port free', async () => {
    await giveRoom(s.f, [NODE]);
    await s.create('ports', ledger('ledger-a', 1, { terminationGracePeriodSeconds: 0 }));
    await s.ready('ports');
    await s.change('ports', ledger('ledger-b', 2, { terminationGracePeriodSeconds: 0 }));
    await expectGone('ledger-a');
    await s.ready('ports');
    await s.f.client.delete(TRAFFIC_STACKS, { name: 'ports' });
    await vi.waitFor(() => expect(s.stack('ports')).rejects.toSatisfy(isNotFound), WAIT);
  });

  it('starts after the old one is removed, if another node has its volume', async () => {
    const spec = {
      ...{ nodeName: NODE, terminationGracePeriodSeconds: 0 },
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'ledger' } }],
    };
    await s.create('claims', ledger('ledger-c', 1, spec));
    await s.ready('claims');
    const message = 'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) ledger-c';
    s.kubelet.faults.set('ledger-d', {
      ...{ reason: 'ContainerCreating', message: '' },
      event: { reason: 'FailedAttachVolume', message },
    });
    await s.change('claims', ledger('ledger-d', 2, spec));
    await s.becomes('reader', { state: 'Waiting', waitingOn: { component: 'ledger-d' } }, 'claims');
    await s.becomes(
      'ledger-c',
      { state: 'Removing', message: expect.stringMatching(/^waits for /) as string },
      'claims',
    );
    await expectGone('ledger-c');
    s.kubelet.faults.delete('ledger-d');
    await s.ready('claims');
    const { spec: reader } = await deployment('reader');
    expect(reader?.template.spec?.containers[0]?.image).toBe('reader:2');
  });
});

it('uses each of its rights, and none that it does not have', () => {
  // Rights on the others: settings.test.ts, upgrades.test.ts, types.test.ts and builtIns.test.ts; rights of every operator: defaultStack.test.ts.
  const others = [
    ...['configmaps', 'poddisruptionbudgets', 'controllerrevisions', 'pods'],
    ...['serviceaccounts', 'prometheusrules', 'events'],
  ];
  const isUsedHere = (resource: string): boolean => !others.includes(resource);
  expect(unusedRights(s, USER, isUsedHere)).toEqual([
    // A server-side apply that creates an object needs the right, and is a patch.
    ...['deployments', 'statefulsets', 'daemonsets', 'services'].map((resource) => `create ${resource}`),
  ]);
});
