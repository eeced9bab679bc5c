import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { DEPLOYMENTS } from '../../../src/runtime/client/resources.ts';
import { writesOf } from '../../harness/audit.ts';
import { component, PERSON, startScene, WAIT, type StackScene } from './scene.ts';

/** An upgrade goes wave by wave, over branches of the graph that do not depend on each other. */
const USER = 'wave-upgrader';
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER);
  s.kubelet.brokenImages.set('web:bad', { reason: 'ErrImagePull', message: 'no such image' });
  await s.startOperator();
  await s.f.client.create(TRAFFIC_STACKS, { metadata: { name: 'main' }, spec: { components: branches(1) } });
  await s.ready();
});
afterAll(() => s.stop());

/** db <- web, and cache <- queue <- jobs. Only the first branch has another version of web. */
function branches(version: number, web: number | string = version): ComponentSpec[] {
  const of = (name: string, ...dependsOn: string[]) => component(name, { dependsOn, image: `${name}:${version}` });
  return [
    of('jobs', 'queue'),
    of('queue', 'cache'),
    of('cache'),
    component('web', { dependsOn: ['db'], image: `web:${web}`, ...(web === 'bad' && { deadline: '4s' }) }),
    of('db'),
  ];
}
const change = (components: readonly ComponentSpec[]) =>
  s.f.client.mergePatch(TRAFFIC_STACKS, { name: 'main' }, { spec: { components } }, PERSON);
const generationOf = async (name: string) =>
  (await s.f.client.get(DEPLOYMENTS, { namespace: 'default', name })).metadata?.generation;
/** The components whose Deployment the operator has written since then, in the order of the first writes. */
const writtenSince = (moment: number) => {
  const written = writesOf(s.f.controlPlane, USER).filter(({ resource }) => resource === 'deployments');
  return [...new Set(written.filter(({ at }) => at > moment).map(({ name }) => name))];
};

it('stops at a wave that misses its deadline, also in another branch', async () => {
  const jobs = await generationOf('jobs');
  await change(branches(2, 'bad'));
  await vi.waitFor(async () => expect(await s.component('web')).toMatchObject({ state: 'Failed' }), WAIT);
  await vi.waitFor(async () => {
    expect(await s.component('queue')).toMatchObject({ state: 'Ready', version: 'queue:2' });
    expect(await s.component('jobs')).toMatchObject({
      ...{ state: 'Waiting', reason: 'UpgradeStopped', blockedBy: ['web'], readyReplicas: 1 },
      message: expect.stringContaining('the upgrade stopped at web: Failed: not ready ') as string,
      waitingOn: { component: 'web', observed: expect.stringContaining('ErrImagePull') as string },
    });
  }, WAIT);
  expect(await generationOf('jobs')).toBe(jobs);
});

it('goes on when that is corrected and ready', async () => {
  const corrected = Date.now();
  await change(branches(2));
  await s.ready();
  expect(writtenSince(corrected)).toEqual(['web', 'jobs']);
});

it('changes a wave when the one before is ready', async () => {
  const changed = Date.now();
  await change(branches(3));
  await s.ready();
  const written = writtenSince(changed);
  const waves = [written.slice(0, 2).sort(), written.slice(2, 4).sort(), written.slice(4)];
  expect(waves).toEqual([['cache', 'db'], ['queue', 'web'], ['jobs']]);
});
