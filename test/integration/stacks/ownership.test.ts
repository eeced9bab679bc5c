import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS } from '../../../src/api/trafficstack/trafficStack.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { DEPLOYMENTS, PODS, STATEFULSETS } from '../../../src/runtime/client/resources.ts';
import { kubectl } from '../../harness/kubectl.ts';
import { component, PERSON, startScene, WAIT, type StackScene } from './scene.ts';

/** Owner references that somebody takes away: by hand, or with `kubectl delete --cascade=orphan`. */
let s: StackScene;
const DB = { namespace: 'default', name: 'db' };
const WEB = { namespace: 'default', name: 'web' };
const graph = [component('db', { kind: 'StatefulSet' }), component('web', { dependsOn: ['db'] })];

beforeAll(async () => {
  s = await startScene('stack-ownership');
  await s.startOperator();
  await s.create('main', graph);
  await s.ready();
});
afterAll(() => s.stop());

const uids = async () =>
  (await Promise.all([s.f.client.get(STATEFULSETS, DB), s.f.client.get(DEPLOYMENTS, WEB)])).map(
    ({ metadata }) => metadata?.uid,
  );
const pods = async () =>
  (await s.f.client.list(PODS, { namespace: 'default' })).map(({ metadata }) => metadata?.uid).sort();
const owners = async () => (await s.f.client.get(DEPLOYMENTS, WEB)).metadata?.ownerReferences?.map(({ kind }) => kind);
const remove = (...args: string[]) =>
  kubectl(s.f.controlPlane, ['delete', 'trafficstack', 'main', '--timeout=120s', ...args]);

it('an owner reference that is taken away is restored, and no pod restarts', async () => {
  const before = await pods();
  await s.f.client.mergePatch(DEPLOYMENTS, WEB, { metadata: { ownerReferences: null } }, PERSON);
  await vi.waitFor(async () => expect(await owners()).toEqual(['TrafficStack']), WAIT);
  await s.ready();
  expect(await pods()).toEqual(before);
});

it('--cascade=orphan leaves all objects and pods, and the stack is gone', async () => {
  const before = [await uids(), await pods()];
  await remove('--cascade=orphan');
  await expect(s.stack()).rejects.toSatisfy(isNotFound);
  expect([await uids(), await pods()]).toEqual(before);
});

it('a stack of the same name takes them over, and no pod restarts', async () => {
  const before = [await uids(), await pods()];
  await s.create('main', graph);
  await s.ready();
  expect(await owners()).toEqual(['TrafficStack']);
  expect([await uids(), await pods()]).toEqual(before);
});

it('so does a deletion while the operator does not run', async () => {
  await s.f.stopOperator();
  await remove('--cascade=orphan', '--wait=false');
  await vi.waitFor(async () => expect(await owners()).toBeUndefined(), WAIT);
  const before = [await uids(), await pods()];
  await s.startOperator();
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  expect([await uids(), await pods()]).toEqual(before);
});

it('a deletion without it leaves nothing', async () => {
  await s.create('main', graph);
  await s.ready();
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  expect([await s.workloads(), await pods()]).toEqual([[], []]);
});
