import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS } from '../../../src/api/trafficstack/trafficStack.ts';
import { cleanUp } from '../../../src/controllers/trafficstack/cleanup.ts';
import { COMPONENT_LABEL, FINALIZER, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { DAEMONSETS, DEPLOYMENTS, PODS, SERVICES, STATEFULSETS } from '../../../src/runtime/client/resources.ts';
import { createLogger } from '../../../src/runtime/process/logger.ts';
import { audited, writesOf } from '../../harness/audit.ts';
import { sleep } from '../../harness/measured.ts';
import { component, PERSON, stackRights, startScene, WAIT, type StackScene } from './scene.ts';

/** A stack with a database, two services that need one another's, and an agent that needs nothing. */
const USER = 'stack-operator';
const IMAGE_FAULT = { reason: 'ImagePullBackOff', message: 'Back-off pulling image "db:1"' };
const DB = component('db', {
  kind: 'StatefulSet',
  workload: { replicas: 2, services: [{ headless: true, ports: [{ port: 5432 }] }] },
});
const API = component('api', { dependsOn: ['db'], workload: { replicas: 2, services: [{ ports: [{ port: 80 }] }] } });
const WEB = component('web', { dependsOn: ['api'] });
const AGENT = component('agent', { kind: 'DaemonSet' });
/** The dependencies come last in the spec on purpose. */
const ALL = [WEB, API, AGENT, DB];
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
});
afterAll(() => s.stop());

const names = async () => {
  const lists = await Promise.all([DEPLOYMENTS, STATEFULSETS, DAEMONSETS].map((kind) => s.f.client.list(kind)));
  return lists
    .flat()
    .map(({ metadata }) => metadata?.name)
    .sort();
};
const state = async (name: string) => (await s.component(name))?.state;
const ready = (): Promise<void> =>
  vi.waitFor(async () => expect(await s.condition('Ready')).toMatchObject({ status: 'True' }), WAIT);
/** Of the operator, in their order: `create deployments/web`. */
const writes = (): string[] =>
  writesOf(s.f.controlPlane, USER).flatMap(({ verb, resource, name }) =>
    ['deployments', 'statefulsets', 'daemonsets'].includes(resource) ? [`${verb} ${resource}/${name}`] : [],
  );
/** Names of deleted workloads, in their order. */
const deletions = (): string[] =>
  writes().flatMap((write) => (write.startsWith('delete') ? [write.slice(write.indexOf('/') + 1)] : []));

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
  expect(await names()).toEqual(['agent', 'db']);
  expect(await s.stack()).toMatchObject({ status: { summary: '1/4' }, metadata: { finalizers: [FINALIZER] } });
  expect(await s.condition('Ready')).toMatchObject({ status: 'False', reason: 'InProgress' });
  expect(await s.condition('Progressing')).toMatchObject({ status: 'True' });
});

it('creates a component when all that it depends on is ready, and not before', async () => {
  s.kubelet.faults.set('api', { reason: 'CrashLoopBackOff', message: 'back-off restarting' });
  s.kubelet.faults.delete('db');
  await vi.waitFor(async () => expect(await state('api')).toBe('Progressing'), WAIT);
  expect([await state('db'), await state('web')]).toEqual(['Ready', 'Waiting']);
  expect(await names()).toEqual(['agent', 'api', 'db']);
  s.kubelet.faults.delete('api');
  await ready();
  const created = writes();
  expect(created.slice(0, 2).sort()).toEqual(['patch daemonsets/agent', 'patch statefulsets/db']);
  expect(created.slice(2)).toEqual(['patch deployments/api', 'patch deployments/web']);
  expect((await s.f.events('main')).map(({ reason }) => reason)).toContain('AllReady');
  await vi.waitFor(async () => {
    const pods = await s.f.client.list(PODS);
    expect(pods.map(({ metadata }) => metadata?.labels?.[STACK_LABEL])).toEqual(Array(6).fill('main'));
  }, WAIT);
});

it('writes nothing while nothing changes, also after a restart', async () => {
  await s.f.stopOperator();
  const before = writesOf(s.f.controlPlane, USER).filter(({ resource }) => resource !== 'events').length;
  await s.startOperator();
  await vi.waitFor(async () => {
    const metrics = await (await fetch(s.f.operator().metricsUrl)).text();
    expect(metrics).toMatch(
      /^traffic_operator_reconcile_duration_seconds_count\{controller="trafficstack"[^\n]* [1-9]/m,
    );
  }, WAIT);
  // A write would follow within milliseconds.
  await sleep(1_000);
  expect(writesOf(s.f.controlPlane, USER).filter(({ resource }) => resource !== 'events').length).toBe(before);
});

it('corrects what others change or delete', async () => {
  const web = { namespace: 'default', name: 'web' };
  const containers = [{ name: 'web', image: 'another:1' }];
  await s.f.client.mergePatch(DEPLOYMENTS, web, { spec: { replicas: 3, template: { spec: { containers } } } }, PERSON);
  await s.f.client.delete(SERVICES, { namespace: 'default', name: 'api' });
  await s.f.client.delete(STATEFULSETS, { namespace: 'default', name: 'db' });
  await vi.waitFor(async () => {
    await s.f.client.get(SERVICES, { namespace: 'default', name: 'api' });
    expect((await s.f.client.get(STATEFULSETS, { namespace: 'default', name: 'db' })).spec?.replicas).toBe(2);
    const { spec } = await s.f.client.get(DEPLOYMENTS, web);
    expect(spec?.template.spec?.containers[0]?.image).toBe('web:1');
    // No field of the stack: an autoscaler may have it.
    expect(spec?.replicas).toBe(3);
  }, WAIT);
  await ready();
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
  await ready();
});

it('changes what others depend on first, and waits for it', async () => {
  s.kubelet.faults.set('db', { reason: 'ImagePullBackOff', message: 'db:2' });
  await sleep(500);
  const since = writes().length;
  const [db, api] = [
    { ...DB, workload: { ...DB.workload, podTemplate: component('db', { image: 'db:2' }).workload.podTemplate } },
    { ...API, workload: { ...API.workload, podTemplate: component('api', { image: 'api:2' }).workload.podTemplate } },
  ];
  await s.change('main', [WEB, api, AGENT, db]);
  await vi.waitFor(async () => {
    expect(await s.component('db')).toMatchObject({ state: 'Progressing', version: 'db:2' });
    expect(await s.component('api')).toMatchObject({
      state: 'Waiting',
      readyReplicas: 2,
      waitingOn: { component: 'db' },
    });
  }, WAIT);
  s.kubelet.faults.delete('db');
  await ready();
  expect(writes().slice(since)).toEqual(['patch statefulsets/db', 'patch deployments/api']);
});

it('says what is wrong with the dependencies, and touches nothing', async () => {
  const before = await names();
  await s.change('main', [WEB, API, AGENT]);
  await vi.waitFor(async () => {
    const message = 'api depends on db, which is no component of the stack';
    expect(await s.condition('Stalled')).toMatchObject({ status: 'True', reason: 'InvalidDependencies', message });
  }, WAIT);
  await s.change('main', [WEB, API, AGENT, { ...DB, dependsOn: ['web'] }]);
  await vi.waitFor(async () => {
    const message = 'components depend on one another: web -> api -> db -> web';
    expect(await s.condition('Stalled')).toMatchObject({ status: 'True', message });
  }, WAIT);
  expect(await names()).toEqual(before);
  await s.change('main', ALL);
  await ready();
});

it('fails a component at its deadline with the reason, and goes on with the others', async () => {
  s.kubelet.faults.set('slow', { reason: 'ErrImagePull', message: 'no such image' });
  const slow = component('slow', { deadline: '3s' });
  await s.change('main', [...ALL, slow, component('after', { dependsOn: ['slow'] }), component('beside')]);
  await vi.waitFor(async () => {
    expect(await s.component('slow')).toMatchObject({ state: 'Failed', reason: 'DeadlineExceeded' });
    expect((await s.component('slow'))?.message).toContain('pod default/slow-');
    expect(await s.component('after')).toMatchObject({ state: 'Waiting', waitingOn: { component: 'slow' } });
    expect(await state('beside')).toBe('Ready');
    expect(await s.condition('Degraded')).toMatchObject({ status: 'True', reason: 'ComponentFailed' });
  }, WAIT);
  s.kubelet.faults.delete('slow');
  await ready();
});

it('removes components that are no longer wanted, those that depend on others first', async () => {
  await s.change('main', ALL);
  await vi.waitFor(async () => {
    expect(await names()).toEqual(['agent', 'api', 'db', 'web']);
    expect((await s.stack()).status?.components).toHaveLength(4);
  }, WAIT);
  const order = deletions().filter((name) => ['after', 'slow'].includes(name));
  expect(order).toEqual(['after', 'slow']);
});

it('counts no pod that somebody has given its labels', async () => {
  const labels = { [STACK_LABEL]: 'main', [COMPONENT_LABEL]: 'web' };
  const spec = component('stray').workload.podTemplate.spec!;
  await s.f.client.create(PODS, { metadata: { namespace: 'default', name: 'stray', labels }, spec });
  await s.change('main', [API, AGENT, DB]);
  await vi.waitFor(async () => expect((await s.stack()).status?.components).toHaveLength(3), WAIT);
  await s.f.client.delete(PODS, { namespace: 'default', name: 'stray' });
  await s.change('main', ALL);
  await ready();
});

it('replaces a workload that gets another name when the new one is ready', async () => {
  s.kubelet.faults.set('web', { reason: 'ImagePullBackOff', message: 'not yet' });
  await s.change('main', [{ ...WEB, workload: { ...WEB.workload, name: 'site' } }, API, AGENT, DB]);
  await vi.waitFor(async () => expect(await state('web')).toBe('Progressing'), WAIT);
  expect(await names()).toEqual(['agent', 'api', 'db', 'site', 'web']);
  s.kubelet.faults.delete('web');
  await vi.waitFor(async () => expect(await names()).toEqual(['agent', 'api', 'db', 'site']), WAIT);
  await s.change('main', ALL);
  await vi.waitFor(async () => expect(await names()).toEqual(['agent', 'api', 'db', 'web']), WAIT);
  await ready();
});

it('says that two components have one object', async () => {
  await s.change('main', [...ALL, component('site', { workload: { name: 'web' } })]);
  await vi.waitFor(async () => {
    const message = 'Deployment default/web is of web and of site';
    expect(await s.condition('Stalled')).toMatchObject({ status: 'True', reason: 'InvalidDependencies', message });
  }, WAIT);
  await s.change('main', ALL);
  await ready();
});

it('says what the API server rejects', async () => {
  const bad = component('bad', {
    image: 'x y',
    workload: { services: [{ name: 'bad', ports: [{ port: 1 }, { port: 2 }] }] },
  });
  await s.change('main', [...ALL, bad]);
  await vi.waitFor(async () => {
    expect(await s.component('bad')).toMatchObject({ reason: 'WriteFailed' });
    expect((await s.component('bad'))?.message).toMatch(
      /^Service default\/bad: .*spec.ports\[0\].name: Required value/,
    );
  }, WAIT);
  await s.change('main', ALL);
  await vi.waitFor(async () => expect((await s.stack()).status?.components).toHaveLength(4), WAIT);
  await ready();
});

it('leaves an object of somebody else as it is, and names it', async () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'x', image: 'x:1' }] } };
  const metadata = { namespace: 'default', name: 'theirs' };
  const spec = { replicas: 0, selector: { matchLabels: { a: 'b' } }, template };
  await s.f.client.create(DEPLOYMENTS, { metadata, spec });
  await s.create('second', [component('theirs'), component('after', { dependsOn: ['theirs'] })]);
  await vi.waitFor(async () => {
    expect(await s.component('theirs', 'second')).toMatchObject({
      ...{ state: 'Failed', reason: 'ForeignObject' },
      message: 'Deployment default/theirs exists and is not of this stack: it is left as it is',
    });
    expect(await s.condition('Stalled', 'second')).toMatchObject({ status: 'True', reason: 'ForeignObject' });
  }, WAIT);
  const { metadata: after } = await s.f.client.get(DEPLOYMENTS, metadata);
  expect([after?.generation, after?.ownerReferences]).toEqual([1, undefined]);
  await s.f.client.delete(DEPLOYMENTS, metadata);
  await vi.waitFor(async () => expect(await s.condition('Ready', 'second')).toMatchObject({ status: 'True' }), WAIT);
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'second' });
  await vi.waitFor(() => expect(s.stack('second')).rejects.toSatisfy(isNotFound), WAIT);
});

it('has no finalizer after a clean-up, and the components go on running', async () => {
  await s.f.stopOperator();
  const logger = createLogger('silent');
  await cleanUp({ client: s.f.client, logger });
  await cleanUp({ client: s.f.client, logger });
  expect((await s.stack()).metadata?.finalizers).toBeUndefined();
  expect(await names()).toEqual(['agent', 'api', 'db', 'web']);
  await s.startOperator();
  await vi.waitFor(async () => expect((await s.stack()).metadata?.finalizers).toEqual([FINALIZER]), WAIT);
});

it('is deleted in the reverse order, also over restarts, and leaves nothing', async () => {
  const before = deletions().length;
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  for (let round = 0; round < 3; round += 1) await s.f.restartOperator().then(() => sleep(300));
  await s.f.stopOperator();
  await s.startOperator();
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  expect(await names()).toEqual([]);
  expect(await s.f.client.list(PODS)).toEqual([]);
  expect((await s.f.client.list(SERVICES)).map(({ metadata }) => metadata?.name)).toEqual(['kubernetes']);
  const order = deletions()
    .slice(before)
    .filter((name) => name !== 'agent');
  expect([...new Set(order)]).toEqual(['web', 'api', 'db']);
});

it('uses each of its rights, and none that it does not have', () => {
  const requests = audited(s.f.controlPlane).filter(({ user }) => user === USER);
  expect(requests.filter(({ code }) => code === 403)).toEqual([]);
  const used = new Set(requests.map(({ verb, resource }) => `${verb} ${resource}`));
  const unused = stackRights().flatMap(({ resources = [], verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)).filter((right) => !used.has(right)),
  );
  // A watch that begins with a list asks for the right to list, too.
  expect(unused.filter((right) => !right.startsWith('list '))).toEqual([
    // The admission plugin OwnerReferencesPermissionEnforcement asks for it.
    'update trafficstacks/finalizers',
    // A server-side apply that creates an object needs the right, and is a patch.
    ...['deployments', 'statefulsets', 'daemonsets', 'services'].map((resource) => `create ${resource}`),
  ]);
});
