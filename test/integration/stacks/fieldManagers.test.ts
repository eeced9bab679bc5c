import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { DEPLOYMENTS } from '../../../src/runtime/client/resources.ts';
import { kubectl } from '../../harness/kubectl.ts';
import { sleep } from '../../harness/measured.ts';
import { component, startScene, WAIT, type StackScene } from './scene.ts';

/** What a second field manager does to the objects of a stack. */
const USER = 'stack-fields';
const WEB = { namespace: 'default', name: 'web' };
const ROUNDS = 4;
const QUIET_MS = 3_000;
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
  await s.create('main', [component('web'), component('fixed', { workload: { replicas: 2 } })]);
  await s.ready();
});
afterAll(() => s.stop());

const get = async (name = 'web') => (await s.f.client.get(DEPLOYMENTS, { ...WEB, name })).spec;
const imageOf = async () => (await get())?.template.spec?.containers[0]?.image;
/** Events that name a change of others: the number of times, by note. */
async function drifts(): Promise<Map<string | undefined, number>> {
  const events = (await s.f.events('main')).filter(({ reason }) => reason === 'DriftCorrected');
  return new Map(events.map(({ note, series }) => [note, series?.count ?? 1]));
}

function setImage(image: string, fieldManager: string) {
  const containers = [{ name: 'web', image }];
  return s.f.client.mergePatch(DEPLOYMENTS, WEB, { spec: { template: { spec: { containers } } } }, { fieldManager });
}

const noteOf = (manager: string, path: string, name = 'web') =>
  `Deployment default/${name}: the field manager ${manager} had changed ${path}`;
const IMAGE = '.spec.template.spec.containers[web].image';

it('corrects a field of the stack once, and names who has changed it', async () => {
  const before = s.writes().length;
  await setImage('other:1', 'person');
  await vi.waitFor(async () => {
    expect(await imageOf()).toBe('web:1');
    expect(await drifts()).toEqual(new Map([[noteOf('person', IMAGE), 1]]));
  }, WAIT);
  await s.ready();
  await sleep(QUIET_MS);
  expect(s.writes().slice(before)).toEqual(['patch deployments/web']);
});

it('corrects what a server-side apply with force has taken over', async () => {
  const replicas = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'fixed' }, spec: { replicas: 5 } };
  const args = ['apply', '--server-side', '--force-conflicts', '--field-manager=gitops', '-f', '-'];
  await kubectl(s.f.controlPlane, args, JSON.stringify(replicas));
  await vi.waitFor(async () => {
    expect((await get('fixed'))?.replicas).toBe(2);
    expect([...(await drifts()).keys()]).toContain(noteOf('gitops', '.spec.replicas', 'fixed'));
  }, WAIT);
});

it('corrects what an autoscaler sets only if the stack sets it, too', async () => {
  const before = s.writes().length;
  for (const name of ['web', 'fixed']) await kubectl(s.f.controlPlane, ['scale', 'deployment', name, '--replicas=3']);
  await vi.waitFor(async () => {
    expect((await get('fixed'))?.replicas).toBe(2);
    expect([...(await drifts()).keys()]).toContain(noteOf('kubectl', '.spec.replicas', 'fixed'));
  }, WAIT);
  await s.ready();
  await sleep(QUIET_MS);
  expect((await get())?.replicas).toBe(3);
  expect(s.writes().slice(before)).toEqual(['patch deployments/fixed']);
});

it('leaves what the stack does not set to others', async () => {
  const before = s.writes().length;
  const patch = { metadata: { annotations: { team: 'a' } }, spec: { revisionHistoryLimit: 3 } };
  await s.f.client.mergePatch(DEPLOYMENTS, WEB, patch, { fieldManager: 'person' });
  await sleep(QUIET_MS);
  expect((await get())?.revisionHistoryLimit).toBe(3);
  expect(s.writes().slice(before)).toEqual([]);
});

it('counts how often it has corrected somebody who changes a field again and again', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    await setImage(`other:${round}`, 'rival');
    await vi.waitFor(async () => expect(await imageOf()).toBe('web:1'), WAIT);
  }
  await vi.waitFor(async () => expect((await drifts()).get(noteOf('rival', IMAGE))).toBe(ROUNDS), WAIT);
  await s.ready();
});
