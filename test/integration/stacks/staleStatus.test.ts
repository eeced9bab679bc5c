import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS } from '../../../src/api/trafficstack/trafficStack.ts';
import { DEPLOYMENTS } from '../../../src/runtime/client/resources.ts';
import { follow } from '../../harness/follow.ts';
import { sleep } from '../../harness/measured.ts';
import { component, startScene, WAIT, type StackScene } from './scene.ts';

/** The controllers of workloads are away, so a status is of an older generation. */
const USER = 'stack-stale';
const STALE_MS = 5_000;
const KINDS = { db: 'StatefulSet', api: 'Deployment', agent: 'DaemonSet' } as const;
const ROOTS = Object.keys(KINDS) as (keyof typeof KINDS)[];
let s: StackScene;
/** Each state of a component with its version, in their order: `db:2 Ready`. */
const seen: string[] = [];
let stopFollowing: () => Promise<void>;

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
  stopFollowing = await follow(s.f.controlPlane, TRAFFIC_STACKS, ({ object }) => {
    for (const { version, state } of object.status?.components ?? []) seen.push(`${version} ${state}`);
  });
});
afterAll(async () => {
  await stopFollowing();
  await s.stop();
});

const all = (version: number) => [
  ...ROOTS.map((name) => component(name, { kind: KINDS[name], image: `${name}:${version}` })),
  component('web', { dependsOn: ROOTS, image: `web:${version}` }),
];
const imageOfWeb = async () => {
  const { spec } = await s.f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'web' });
  return spec?.template.spec?.containers[0]?.image;
};

it('components that have changed are Unknown, and never Ready; what depends on them waits and names one', async () => {
  await s.create('main', all(1));
  await s.ready();
  await s.stopControllers();
  await s.change('main', all(2));
  for (const name of ROOTS) {
    const message = `${KINDS[name]} default/${name} has no status of its generation yet`;
    await s.becomes(name, { state: 'Unknown', reason: 'StatusMissing', version: `${name}:2`, message });
  }
  const observed = expect.stringMatching(/^Unknown: .* has no status of its generation yet$/) as string;
  await s.becomes('web', { state: 'Waiting', blockedBy: ROOTS, waitingOn: { component: 'db', observed } });
  await sleep(STALE_MS);
  expect(seen.filter((each) => ROOTS.some((name) => each === `${name}:2 Ready`))).toEqual([]);
  expect(await s.condition('Ready')).toMatchObject({ status: 'False' });
  expect(await imageOfWeb()).toBe('web:1');
});

it('a component that is new is Unknown, too', async () => {
  await s.create('second', [component('late')]);
  await s.becomes('late', { state: 'Unknown', reason: 'StatusMissing' }, 'second');
});

it('they are Ready when the controllers are back, and what depends on them is changed then', async () => {
  await s.startControllers();
  await s.ready('main');
  await s.ready('second');
  expect(await imageOfWeb()).toBe('web:2');
  await vi.waitFor(() => expect(seen).toContain('web:2 Ready'), WAIT);
  for (const name of ROOTS) expect(seen.indexOf(`${name}:2 Ready`)).toBeGreaterThan(seen.indexOf(`${name}:2 Unknown`));
});
