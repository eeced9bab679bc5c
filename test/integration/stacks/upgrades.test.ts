import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  TRAFFIC_STACKS,
  type ComponentSpec,
  type TrafficStackSpec,
  type UpgradeSpec,
} from '../../../src/api/trafficstack/trafficStack.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import {
  CONFIG_MAPS,
  CONTROLLER_REVISIONS,
  DEPLOYMENTS,
  PODS,
  STATEFULSETS,
} from '../../../src/runtime/client/resources.ts';
import { follow } from '../../harness/follow.ts';
import { writesOf } from '../../harness/audit.ts';
import { kubectl } from '../../harness/kubectl.ts';
import { SLACK } from '../../harness/slack.ts';
import { component, PERSON, startScene, unusedRights, USER, WAIT, type StackScene } from './scene.ts';

/** Upgrades that fail, that wait, and that go wave by wave. */
const IN_DEFAULT = { namespace: 'default' };
/**
 * Deadlines of images that do not start, in seconds. Others have the default. The kubelet's report by then is the reason that stays, so a busy
 * machine gets time to report it; for a component that is not restored, it may come later.
 */
const RESTORED_AFTER = Math.max(4, 3 * SLACK);
const DEADLINES: Readonly<Record<string, number>> = {
  'api:bad': RESTORED_AFTER,
  'db:bad': RESTORED_AFTER,
  'wave-web:bad': 4,
};
const FAULT = { reason: 'ErrImagePull', message: 'no such image' };
let s: StackScene;
/** The image of each version of each Deployment: what fails is there for some seconds only. */
const seen: (string | undefined)[] = [];
let stopFollowing: () => Promise<void>;

beforeAll(async () => {
  s = await startScene(USER);
  for (const image of Object.keys(DEADLINES)) s.kubelet.brokenImages.set(image, FAULT);
  stopFollowing = await follow(s.f.controlPlane, DEPLOYMENTS, ({ object }) => {
    seen.push(object.spec?.template.spec?.containers[0]?.image);
  });
  await s.startOperator();
});
afterAll(async () => {
  await stopFollowing();
  await s.stop();
});

interface Versions {
  readonly db?: number | string;
  readonly api?: number | string;
  readonly web?: number | string;
}

/** Three components in a row. A version of api has a file of its own. Only what cannot be ready has a short deadline. */
function shop({ db = 1, api = 1, web = 1 }: Versions = {}): ComponentSpec[] {
  const config = [{ name: 'etc', mountPath: '/etc/api', files: { version: `${api}` } }];
  const version = (name: string, is: number | string) => {
    const image = `${name}:${is}`;
    return { image, ...(DEADLINES[image] !== undefined && { deadline: `${DEADLINES[image]}s` }) };
  };
  return [
    component('web', { dependsOn: ['api'], ...version('web', web) }),
    component('api', { dependsOn: ['db'], ...version('api', api), workload: { replicas: 2, config } }),
    component('db', { kind: 'StatefulSet', ...version('db', db), workload: { replicas: 2 } }),
  ];
}
const change = (versions: Versions, upgrade: UpgradeSpec = { rollback: true }) => {
  const spec: TrafficStackSpec = { upgrade, components: shop(versions) };
  return s.f.client.mergePatch(
    TRAFFIC_STACKS,
    { name: 'main' },
    { spec: { ...spec, upgrade: { query: null, ...upgrade } } },
    PERSON,
  );
};
const deployment = (name: string) => s.f.client.get(DEPLOYMENTS, { ...IN_DEFAULT, name });
const imageOf = async (name: string) => (await deployment(name)).spec?.template.spec?.containers[0]?.image;
const podsOf = async (name: string) =>
  (await s.f.client.list(PODS, IN_DEFAULT)).filter(({ metadata }) => metadata?.labels?.[COMPONENT_LABEL] === name);
/** But for pods that are ending. */
const uids = async (name: string) =>
  (await podsOf(name))
    .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata?.uid)
    .sort();
const imagesOf = async (name: string) => (await podsOf(name)).map(({ spec }) => spec?.containers[0]?.image);
/** The versions of the files of api. */
const files = async () =>
  (await s.f.client.list(CONFIG_MAPS, IN_DEFAULT))
    .filter(({ metadata }) => metadata?.labels?.[COMPONENT_LABEL] === 'api')
    .map(({ data }) => data?.version);
/** The stored revisions, by component. StatefulSets have ControllerRevisions of their own. */
const stored = async () =>
  (await s.f.client.list(CONTROLLER_REVISIONS, IN_DEFAULT)).filter(({ metadata }) =>
    metadata?.ownerReferences?.some(({ kind }) => kind === TRAFFIC_STACKS.kind),
  );
const storedNames = async () => (await stored()).map(({ metadata }) => metadata?.labels?.[COMPONENT_LABEL]).sort();

const rolledBack = (name: string, from: string, to: string) =>
  vi.waitFor(async () => {
    expect(await s.component(name)).toMatchObject({
      ...{ state: 'Failed', reason: 'RolledBack', version: to },
      rolledBackFrom: { version: from, message: expect.stringContaining('ErrImagePull') as string },
    });
  }, WAIT);

/** Deletes a Deployment, and waits until it exists again. */
async function isMadeAgain(name: string): Promise<void> {
  const { metadata } = await deployment(name);
  await s.f.client.delete(DEPLOYMENTS, { ...IN_DEFAULT, name });
  await vi.waitFor(async () => expect((await deployment(name)).metadata?.uid).not.toBe(metadata?.uid), WAIT);
}

it('stores exactly what was applied of each component that is ready', async () => {
  const spec: TrafficStackSpec = { upgrade: { rollback: true }, components: shop() };
  await s.f.client.create(TRAFFIC_STACKS, { metadata: { name: 'main' }, spec });
  await s.ready();
  expect(await storedNames()).toEqual(['api', 'db', 'web']);
  const api = (await stored()).find(({ metadata }) => metadata?.labels?.[COMPONENT_LABEL] === 'api');
  const { revision } = (await s.component('api')) ?? {};
  const kinds = [
    { kind: 'ConfigMap', data: { version: '1' } },
    { kind: 'Deployment', metadata: { name: 'api' } },
  ];
  expect(api).toMatchObject({ data: { revision, objects: kinds }, metadata: { labels: { [STACK_LABEL]: 'main' } } });
});

it('restores a component that misses its deadline, and touches none that depends on it', async () => {
  const [pods, web] = [await uids('api'), await deployment('web')];
  await change({ api: 'bad', web: 2 });
  await vi.waitFor(() => expect(seen).toContain('api:bad'), WAIT);
  await rolledBack('api', 'api:bad', 'api:1');
  // The controllers of Kubernetes have yet to take the new pods away.
  await vi.waitFor(async () => {
    expect((await s.component('api'))?.message).toMatch(
      new RegExp(
        '^rolled back to revision [0-9a-f]{16}: Deployment default/api: 2 of 2 pods are available; ' +
          `revision [0-9a-f]{16} failed: not ready within ${RESTORED_AFTER}s: .*ErrImagePull: no such image$`,
      ),
    );
    expect([await imageOf('api'), await uids('api')]).toEqual(['api:1', pods]);
    expect(await files()).toEqual(['1']);
  }, WAIT);
  expect(await s.component('web')).toMatchObject({
    ...{ state: 'Waiting', waitingOn: { component: 'api' }, readyReplicas: 1 },
  });
  expect((await deployment('web')).metadata?.generation).toBe(web.metadata?.generation);
  expect(await s.condition('Degraded')).toMatchObject({ status: 'True', reason: 'ComponentFailed' });
});

it('stays so over a restart, and corrects what others change', async () => {
  await s.restartOperator();
  const containers = [{ name: 'api', image: 'another:1' }];
  const ref = { ...IN_DEFAULT, name: 'api' };
  await s.f.client.mergePatch(DEPLOYMENTS, ref, { spec: { template: { spec: { containers } } } }, PERSON);
  await vi.waitFor(async () => expect(await imageOf('api')).toBe('api:1'), WAIT);
  await rolledBack('api', 'api:bad', 'api:1');
});

it('goes on with a corrected spec, and stores that one', async () => {
  await change({ api: 2, web: 2 });
  await s.ready();
  expect([await imageOf('api'), await imageOf('web')]).toEqual(['api:2', 'web:2']);
  expect((await s.component('api'))?.rolledBackFrom).toBeUndefined();
  await vi.waitFor(async () => {
    expect(await storedNames()).toEqual(['api', 'db', 'web']);
    expect(await files()).toEqual(['2']);
  }, WAIT);
});

it('restores a StatefulSet, whose broken pod would be in the way', async () => {
  const api = await uids('api');
  await change({ db: 'bad', api: 3, web: 2 });
  await rolledBack('db', 'db:bad', 'db:1');
  await vi.waitFor(async () => expect(await imagesOf('db')).toEqual(['db:1', 'db:1']), WAIT);
  expect([await imageOf('api'), await uids('api')]).toEqual(['api:2', api]);
  const { spec } = await s.f.client.get(STATEFULSETS, { ...IN_DEFAULT, name: 'db' });
  expect(spec?.template.spec?.containers[0]?.image).toBe('db:1');
  // A restored dependency is ready for others, so also for a repair.
  await isMadeAgain('web');
  expect(await s.component('db')).toMatchObject({ reason: 'RolledBack' });
  await change({ db: 2, api: 3, web: 2 });
  await s.ready();
});

describe('a repair, which waits for no dependency', () => {
  const changed = async (versions: Versions, replicas = 2) => {
    const components = shop(versions).map((each) =>
      each.name === 'api' ? { ...each, workload: { ...each.workload, replicas } } : each,
    );
    await s.change('main', components as ComponentSpec[]);
  };

  it('makes a deleted workload again while its dependency is Degraded', async () => {
    s.kubelet.faults.set('api', { reason: 'CrashLoopBackOff', message: 'back-off' });
    await s.becomes('api', { state: 'Degraded' });
    await isMadeAgain('web');
    await s.becomes('web', { state: 'Ready' });
    expect(await s.component('api')).toMatchObject({ state: 'Degraded' });
    s.kubelet.faults.delete('api');
    await s.ready();
  });

  it('corrects a component that was never ready, and removes pods, while its dependency is not ready', async () => {
    for (const image of ['api:wrong', 'db:slow']) s.kubelet.brokenImages.set(image, FAULT);
    await changed({ db: 2, api: 'wrong', web: 2 });
    await s.becomes('api', { state: 'Progressing', reason: 'ErrImagePull' });
    await changed({ db: 'slow', api: 'wrong', web: 2 });
    await s.becomes('db', { state: 'Progressing', version: 'db:slow', reason: 'ErrImagePull' });
    await changed({ db: 'slow', api: 5, web: 2 });
    await vi.waitFor(async () => expect(await imageOf('api')).toBe('api:5'), WAIT);
    await s.becomes('api', { state: 'Ready', version: 'api:5' });
    await changed({ db: 'slow', api: 5, web: 2 }, 1);
    await vi.waitFor(async () => expect((await deployment('api')).spec?.replicas).toBe(1), WAIT);
    await s.becomes('api', { state: 'Ready', replicas: 1 });
    expect(await s.component('db')).toMatchObject({ state: 'Progressing' });
    // More pods are a change.
    await changed({ db: 'slow', api: 5, web: 2 }, 3);
    await s.becomes('api', { state: 'Waiting', waitingOn: { component: 'db' } });
    expect((await deployment('api')).spec?.replicas).toBe(1);
    await changed({ db: 2, api: 3, web: 2 });
    await s.ready();
    expect((await deployment('api')).spec?.replicas).toBe(2);
  });
});

it('holds a change while the query of the gate is false, or has no answer, and begins it when it is true', async () => {
  await change({ db: 2, api: 4, web: 2 }, { query: 'no_such_metric', rollback: true });
  await vi.waitFor(async () => {
    expect(await s.component('api')).toMatchObject({
      ...{ state: 'Waiting', reason: 'WaitingForGate', readyReplicas: 2 },
      message: 'waits to be changed: upgrade.query "no_such_metric" gives no series',
    });
  }, WAIT);
  expect(await imageOf('api')).toBe('api:3');
  await s.f.stopPrometheus();
  await change({ db: 2, api: 4, web: 2 }, { query: 'count(up) > 0', rollback: true });
  await s.becomes('api', {
    reason: 'WaitingForGate',
    message: expect.stringMatching(/^waits to be changed: upgrade.query "count\(up\) > 0": /) as string,
  });
  expect(await imageOf('api')).toBe('api:3');
  await s.f.startPrometheus();
  await s.ready();
  expect(await imageOf('api')).toBe('api:4');
});

it('leaves nothing stored without rollback, and when the stack is deleted', async () => {
  await change({ db: 2, api: 4, web: 2 }, { rollback: false });
  await vi.waitFor(async () => expect(await stored()).toEqual([]), WAIT);
  await change({ db: 2, api: 4, web: 2 });
  await vi.waitFor(async () => expect(await storedNames()).toEqual(['api', 'db', 'web']), WAIT);
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  expect(await stored()).toEqual([]);
});

describe('the waves of an upgrade', () => {
  /** wave-db <- wave-web, and wave-cache <- wave-queue <- wave-jobs. Only the first branch has another version of web. */
  function branches(version: number, web: number | string = version): ComponentSpec[] {
    const of = (name: string, is: number | string, ...dependsOn: string[]): ComponentSpec => {
      const image = `wave-${name}:${is}`;
      const deadline = DEADLINES[image] === undefined ? {} : { deadline: `${DEADLINES[image]}s` };
      return component(`wave-${name}`, { dependsOn: dependsOn.map((each) => `wave-${each}`), image, ...deadline });
    };
    return [
      ...[of('jobs', version, 'queue'), of('queue', version, 'cache'), of('cache', version)],
      ...[of('web', web, 'db'), of('db', version)],
    ];
  }
  const generationOf = async (name: string) => (await deployment(name)).metadata?.generation;
  /** The components whose Deployment the operator has written since then, in the order of the first writes. */
  const writtenSince = (moment: number) => {
    const written = writesOf(s.f.controlPlane, USER).filter(({ resource }) => resource === 'deployments');
    return [...new Set(written.filter(({ at }) => at > moment).map(({ name }) => name.replace('wave-', '')))];
  };

  it('stop at one that misses its deadline, also in another branch, and go on when that is corrected', async () => {
    await s.create('waves', branches(1));
    await s.ready('waves');
    const jobs = await generationOf('wave-jobs');
    await s.change('waves', branches(2, 'bad'));
    await s.becomes('wave-web', { state: 'Failed' }, 'waves');
    await s.becomes('wave-queue', { state: 'Ready', version: 'wave-queue:2' }, 'waves');
    await s.becomes(
      'wave-jobs',
      {
        ...{ state: 'Waiting', reason: 'UpgradeStopped', blockedBy: ['wave-web'], readyReplicas: 1 },
        message: expect.stringContaining('the upgrade stopped at wave-web: Failed: not ready ') as string,
        waitingOn: { component: 'wave-web', observed: expect.stringContaining('ErrImagePull') as string },
      },
      'waves',
    );
    expect(await generationOf('wave-jobs')).toBe(jobs);
    const corrected = Date.now();
    await s.change('waves', branches(2));
    await s.ready('waves');
    expect(writtenSince(corrected)).toEqual(['web', 'jobs']);
  });

  it('are changed one after the other, each when the one before is ready', async () => {
    const changed = Date.now();
    await s.change('waves', branches(3));
    await s.ready('waves');
    const written = writtenSince(changed);
    const waves = [written.slice(0, 2).sort(), written.slice(2, 4).sort(), written.slice(4)];
    expect(waves).toEqual([['cache', 'db'], ['queue', 'web'], ['jobs']]);
  });

  it('wait for a component that somebody has scaled to 0, which stays so', async () => {
    await kubectl(s.f.controlPlane, ['scale', 'deployment', 'wave-web', '--replicas=0']);
    await s.becomes('wave-web', { state: 'Degraded', reason: 'ScaledToZero', replicas: 0 }, 'waves');
    await s.change('waves', branches(4));
    await s.becomes('wave-web', { version: 'wave-web:4', reason: 'ScaledToZero', replicas: 0 }, 'waves');
    await s.becomes('wave-queue', { state: 'Ready', version: 'wave-queue:4' }, 'waves');
    const waits = { state: 'Waiting', reason: 'WaitingForWave', blockedBy: ['wave-web'] };
    await s.becomes('wave-jobs', waits, 'waves');
    expect([await imageOf('wave-web'), await imageOf('wave-jobs')]).toEqual(['wave-web:4', 'wave-jobs:3']);
    expect((await deployment('wave-web')).spec?.replicas).toBe(0);
    await kubectl(s.f.controlPlane, ['scale', 'deployment', 'wave-web', '--replicas=1']);
    await s.ready('waves');
    expect(await imageOf('wave-jobs')).toBe('wave-jobs:4');
  });
});

it('makes a component again that gets another name, and changes its dependents after that', async () => {
  const renamed = (name: string, version: number) => [
    component(name, { image: 'store:1', workload: { name: 'store' } }),
    component('front', { image: `front:${version}`, dependsOn: [name] }),
  ];
  await s.create('renamed', renamed('orders', 1));
  await s.ready('renamed');
  const [store, front] = [(await deployment('store')).metadata?.uid, (await deployment('front')).metadata?.uid];
  await s.change('renamed', renamed('users', 2));
  await s.ready('renamed');
  expect((await deployment('store')).metadata?.uid).not.toBe(store);
  expect((await deployment('front')).metadata?.uid).toBe(front);
  expect(s.writes().slice(-2)).toEqual(['patch deployments/store', 'patch deployments/front']);
  expect(s.deletions().slice(-1)).toEqual(['store']);
});

it('uses each of its rights on stored revisions and pods', () => {
  const isOfRollback = (resource: string): boolean => ['controllerrevisions', 'pods'].includes(resource);
  // A server-side apply that creates an object needs the right, and is a patch.
  expect(unusedRights(s, USER, isOfRollback)).toEqual(['create controllerrevisions']);
});
