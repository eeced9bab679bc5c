import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { DEPLOYMENTS } from '../../../src/runtime/client/resources.ts';
import { component, startScene, WAIT, type StackScene } from './scene.ts';

/** A component that gets another name, and keeps its workload. */
const USER = 'stack-renamer';
const BROKEN = { reason: 'ErrImagePull', message: 'no such image' };
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
  await s.create('main', shop('orders', 1));
  await s.ready();
});
afterAll(() => s.stop());

/** A database with a name, in the Deployment db, and what depends on it. */
const shop = (db: string, version: number) => [
  component(db, { image: 'db:1', workload: { name: 'db' } }),
  component('api', { image: `api:${version}`, dependsOn: [db] }),
];
const state = async (name: string) => (await s.component(name))?.state;
const message = async (name: string) => (await s.component(name))?.message;
const deployment = (name: string) => s.f.client.get(DEPLOYMENTS, { namespace: 'default', name });
const uidOf = async (name: string) => (await deployment(name)).metadata?.uid;

it('is made anew under its new name, while what depends on it is changed, too', async () => {
  const [db, api] = [await uidOf('db'), await uidOf('api')];
  await s.change('main', shop('users', 2));
  await s.ready();
  expect(await s.workloads()).toEqual(['api', 'db']);
  expect(await uidOf('db')).not.toBe(db);
  expect(await uidOf('api')).toBe(api);
  // That which depends on it comes last.
  expect(s.writes().slice(-2)).toEqual(['patch deployments/db', 'patch deployments/api']);
  expect(s.deletions()).toEqual(['db']);
});

it('is made anew also while what depends on it is not ready, which it may be the cause of', async () => {
  s.kubelet.faults.set('api', BROKEN);
  await vi.waitFor(async () => expect(await state('api')).toBe('Degraded'), WAIT);
  await s.change('main', shop('orders', 2));
  await vi.waitFor(async () => expect(await state('orders')).toBe('Ready'), WAIT);
  s.kubelet.faults.delete('api');
  await s.ready();
});

it('stays while something that does not depend on the new one may still use it, and says so', async () => {
  s.kubelet.faults.set('api', BROKEN);
  await s.change('main', [component('api', { image: 'api:3' })]);
  await vi.waitFor(async () => {
    expect([await state('orders'), await message('orders')]).toEqual([
      'Removing',
      'waits for api, which depended on it and is not ready yet',
    ]);
    expect(await state('api')).toBe('Progressing');
  }, WAIT);
  expect(await s.workloads()).toEqual(['api', 'db']);
  s.kubelet.faults.delete('api');
  await vi.waitFor(async () => expect(await s.workloads()).toEqual(['api']), WAIT);
  await s.ready();
});
