import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS } from '../../../src/api/trafficstack/trafficStack.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { DEPLOYMENTS, PODS } from '../../../src/runtime/client/resources.ts';
import { component, PERSON, startScene, WAIT, type StackScene } from './scene.ts';
import { AGENT, ALL, API, DB, WEB } from './shop.ts';

/** What other specs, and other people, do to a stack that is ready. */
const USER = 'stack-changer';
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
  await s.create('main', ALL);
  await s.ready();
});
afterAll(() => s.stop());

const state = async (name: string) => (await s.component(name))?.state;

it('says what is wrong with the dependencies, and touches nothing', async () => {
  const before = await s.workloads();
  const ready = (await s.stack()).status?.components;
  const written = s.writes().length;
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
  expect(await s.workloads()).toEqual(before);
  const { summary, components } = (await s.stack()).status!;
  expect(summary).toBe('0/4');
  expect(components?.map((each) => each.state)).toEqual(Array(4).fill('Unknown'));
  expect(components?.map(({ message }) => message)).toContain(
    'nothing is decided (InvalidDependencies); it was Ready: StatefulSet default/db: 2 of 2 pods are available',
  );
  await s.change('main', ALL);
  await s.ready();
  // Nothing begins anew.
  expect((await s.stack()).status?.components).toEqual(ready);
  expect(s.writes().slice(written)).toEqual([]);
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
  await s.ready();
});

it('removes components that are no longer wanted, those that depend on others first', async () => {
  await s.change('main', ALL);
  await vi.waitFor(async () => {
    expect(await s.workloads()).toEqual(['agent', 'api', 'db', 'web']);
    expect((await s.stack()).status?.components).toHaveLength(4);
  }, WAIT);
  const order = s.deletions().filter((name) => ['after', 'slow'].includes(name));
  expect(order).toEqual(['after', 'slow']);
});

it('counts no pod that somebody has given its labels', async () => {
  const labels = { [STACK_LABEL]: 'main', [COMPONENT_LABEL]: 'web' };
  const spec = component('stray').workload.podTemplate!.spec!;
  await s.f.client.create(PODS, { metadata: { namespace: 'default', name: 'stray', labels }, spec });
  await s.change('main', [API, AGENT, DB]);
  await vi.waitFor(async () => expect((await s.stack()).status?.components).toHaveLength(3), WAIT);
  await s.f.client.delete(PODS, { namespace: 'default', name: 'stray' });
  await s.change('main', ALL);
  await s.ready();
});

it('replaces a workload that gets another name when the new one is ready', async () => {
  s.kubelet.faults.set('web', { reason: 'ImagePullBackOff', message: 'not yet' });
  await s.change('main', [{ ...WEB, workload: { ...WEB.workload, name: 'site' } }, API, AGENT, DB]);
  await vi.waitFor(async () => {
    expect(await state('web')).toBe('Progressing');
    expect(await s.workloads()).toEqual(['agent', 'api', 'db', 'site', 'web']);
  }, WAIT);
  s.kubelet.faults.delete('web');
  await vi.waitFor(async () => expect(await s.workloads()).toEqual(['agent', 'api', 'db', 'site']), WAIT);
  await s.change('main', ALL);
  await vi.waitFor(async () => expect(await s.workloads()).toEqual(['agent', 'api', 'db', 'web']), WAIT);
  await s.ready();
});

it('says that two components have one object', async () => {
  await s.change('main', [...ALL, component('site', { workload: { name: 'web' } })]);
  await vi.waitFor(async () => {
    const message = 'Deployment default/web is of web and of site';
    expect(await s.condition('Stalled')).toMatchObject({ status: 'True', reason: 'InvalidComponents', message });
  }, WAIT);
  await s.change('main', ALL);
  await s.ready();
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
  await s.ready();
});

it('leaves an object of somebody else as it is, and names it', async () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'x', image: 'x:1' }] } };
  const metadata = { namespace: 'default', name: 'theirs' };
  const spec = { replicas: 0, selector: { matchLabels: { a: 'b' } }, template };
  await s.f.client.create(DEPLOYMENTS, { metadata, spec }, PERSON);
  await s.create('second', [component('theirs'), component('after', { dependsOn: ['theirs'] })]);
  await vi.waitFor(async () => {
    expect(await s.component('theirs', 'second')).toMatchObject({
      ...{ state: 'Failed', reason: 'ForeignObject' },
      message:
        'Deployment default/theirs exists and is not of this stack, but of the field manager person: it is left as it is',
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
