import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { V1PolicyRule, V1StorageClass } from '@kubernetes/client-node';
import { TRAFFIC_STACKS } from '../../../src/api/trafficstack/trafficStack.ts';
import { resourceOfKind } from '../../../src/controllers/trafficstack/render/kinds.ts';
import type { Resource } from '../../../src/runtime/client/resource.ts';
import { NAMESPACES, NODES, SERVICE_ACCOUNTS } from '../../../src/runtime/client/resources.ts';
import { untilQuiet } from '../../harness/audit.ts';
import { follow } from '../../harness/follow.ts';
import { inParallel } from '../../harness/inParallel.ts';
import { measured, seconds, sleep } from '../../harness/measured.ts';
import { giveRoom } from '../injection/world.ts';
import { CROWDED, DARK, faultRows, FULL, PLACES, type FaultRow } from './faultTable.ts';
import { imageIn } from './imageIn.ts';
import { NODE, setReady } from './kubelet.ts';
import { makeQuota } from './quota.ts';
import { component, PERSON, startScene, USER, WAIT, type StackScene } from './scene.ts';

/** Faults of all kinds, all at once in one cluster: what waits names the one that is at fault. */
const STORAGE_CLASSES: Resource<V1StorageClass> = {
  ...{ group: 'storage.k8s.io', version: 'v1', kind: 'StorageClass', plural: 'storageclasses', namespaced: false },
};
const ROWS = faultRows();
const N2 = 'n2';
/** The time for which a status must not change. ms */
const STALE_MS = 2_000;
let s: StackScene;
let began: number;

beforeAll(async () => {
  s = await startScene(USER, {
    plane: { serviceAccounts: true },
    controllers: ['serviceaccount-controller', 'resourcequota-controller'],
    rights: (rules) => rules.map(withoutServices),
  });
  await giveRoom(s.f, [NODE], '500');
  await s.f.addNode(DARK);
  await setReady(s.f.client, DARK, 'Unknown');
  // A DaemonSet gives no pod to a node with this taint, which each new node has.
  await s.f.client.mergePatch(NODES, { name: DARK }, { spec: { taints: null } }, PERSON);
  s.kubelet.off.add(DARK);
  for (const name of [FULL, CROWDED]) await s.f.client.create(NAMESPACES, { metadata: { name } });
  await provisionNothing('nothing', 'Immediate');
  await provisionNothing('late', 'WaitForFirstConsumer');
  await makeQuota(s, FULL, { pods: '0' });
  for (const namespace of [FULL, CROWDED, 'default']) {
    const account = { namespace, name: 'default' };
    await vi.waitFor(() => s.f.client.get(SERVICE_ACCOUNTS, account), WAIT);
  }
  await s.startOperator();
  began = performance.now();
  await inject();
});
afterAll(() => s.stop());

/** It may not write Services. */
function withoutServices(rule: V1PolicyRule): V1PolicyRule {
  return { ...rule, verbs: rule.verbs.filter((verb) => !rule.resources?.includes('services') || verb !== 'patch') };
}

async function provisionNothing(name: string, volumeBindingMode: string): Promise<void> {
  await s.f.client.create(STORAGE_CLASSES, { metadata: { name }, provisioner: 'example.com/none', volumeBindingMode });
}

async function inject(): Promise<void> {
  const reports = (row: FaultRow): void => {
    if (row.kind.fault !== undefined) s.kubelet.faults.set(row.bad.name, row.kind.fault(row.bad.name));
    for (const other of row.others) s.kubelet.faults.set(other, { reason: 'ErrImagePull', message: 'unrelated' });
  };
  const [deleted, others] = [ROWS.filter(({ kind }) => kind.isDeleted), ROWS.filter(({ kind }) => !kind.isDeleted)];
  others.forEach(reports);
  await inParallel(deleted, (row) => s.create(row.id, [row.bad]));
  await inParallel(others, (row) => s.create(row.id, row.components));
  for (const { id } of deleted) await s.ready(id);
  deleted.forEach(reports);
  await makeQuota(s, CROWDED, {
    ...{ 'count/deployments.apps': '0', 'count/statefulsets.apps': '0', 'count/daemonsets.apps': '0' },
  });
  await inParallel(deleted, async ({ id, bad: { name, workload }, components }) => {
    await s.f.client.delete(resourceOfKind(workload.kind), { namespace: workload.namespace, name });
    // What depends on one that is Ready would be created.
    await vi.waitFor(async () => expect((await s.component(name, id))?.state).not.toBe('Ready'), WAIT);
    await s.change(id, components);
  });
}

/** Throws unless each component that waits names the faulty one, and what is wrong there. */
async function expectRoot({ id, kind, bad, waiting, place }: FaultRow): Promise<void> {
  const components = (await s.stack(id)).status?.components ?? [];
  const find = (name: string) => components.find((each) => each.name === name);
  const { name, workload } = bad;
  for (const each of waiting) {
    const found = find(each);
    expect(found, each).toMatchObject({
      state: 'Waiting',
      waitingOn: { component: name, what: `${workload.kind} ${workload.namespace}/${name}` },
    });
    for (const text of kind.observed(name)) expect(found?.waitingOn?.observed, each).toContain(text);
    if (place === 'two') expect(found?.waitingOn?.observed, each).toMatch(/^Failed: /);
  }
  if (place === 'sibling') expect(find(`${id}-x`)?.waitingOn?.component).toBe(`${id}-other`);
}

it('has each place, and each kind of workload', () => {
  expect(new Set(ROWS.map(({ place }) => place))).toEqual(new Set(PLACES));
  expect(new Set(ROWS.map(({ bad }) => bad.workload.kind)).size).toBe(3);
  expect(new Set(ROWS.map(({ title }) => title)).size).toBe(ROWS.length);
});

it.each(ROWS)('names the root: $title', async (row) => {
  await vi.waitFor(() => expectRoot(row), WAIT);
});

it('names all of them at the same time', async () => {
  const took = performance.now() - began;
  // Events that cannot be read for once make a message shorter.
  await vi.waitFor(async () => {
    for (const row of ROWS) await expectRoot(row);
  }, WAIT);
  measured(`the root of each of ${ROWS.length} faults is named ${seconds(took)} after the first`);
});

it('removes all of them', async () => {
  await inParallel(ROWS, ({ id }) => s.f.client.delete(TRAFFIC_STACKS, { name: id }));
  await vi.waitFor(async () => {
    expect(await s.f.client.list(TRAFFIC_STACKS)).toEqual([]);
    expect(await s.workloads()).toEqual([]);
  }, WAIT);
});

it('names a node that stops to be Ready instead of the earlier fault of its pods, also if they do not change', async () => {
  await s.f.addNode(N2);
  await setReady(s.f.client, N2, 'True');
  s.kubelet.faults.set('agent', { reason: 'ImagePullBackOff', message: 'Back-off pulling image' });
  const made = component('agent', { kind: 'StatefulSet' });
  const { podTemplate } = made.workload;
  const onN2 = { ...podTemplate, spec: { ...podTemplate!.spec!, nodeName: N2 } };
  await s.create('node', [{ ...made, workload: { ...made.workload, podTemplate: onN2 } }]);
  await s.becomes('agent', { reason: 'ImagePullBackOff' }, 'node');
  // Nothing but the node changes from then on.
  await untilQuiet(s.f.controlPlane, USER);
  s.kubelet.off.add(N2);
  await setReady(s.f.client, N2, 'Unknown');
  const message = expect.stringMatching(
    /pod default\/agent-0 is on node n2, which is NotReady since 20..-..-..T..:..:..Z/,
  ) as string;
  await s.becomes('agent', { reason: 'NodeNotReady', message }, 'node');
  s.kubelet.faults.delete('agent');
  s.kubelet.off.delete(N2);
  await setReady(s.f.client, N2, 'True');
  await s.ready('node');
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'node' });
});

describe('while the controllers of workloads are away', () => {
  const KINDS = { db: 'StatefulSet', api: 'Deployment', agent: 'DaemonSet' } as const;
  const roots = Object.keys(KINDS) as (keyof typeof KINDS)[];
  /** Each state of a component with its version, in their order: `db:2 Ready`. */
  const seen: string[] = [];
  const all = (version: number) => [
    ...roots.map((name) => component(name, { kind: KINDS[name], image: `${name}:${version}` })),
    component('web', { dependsOn: roots, image: `web:${version}` }),
  ];
  const imageOfWeb = () => imageIn(s.f.client, 'web');
  let stopFollowing: () => Promise<void>;

  beforeAll(async () => {
    stopFollowing = await follow(s.f.controlPlane, TRAFFIC_STACKS, ({ object }) => {
      for (const { version, state } of object.status?.components ?? []) seen.push(`${version} ${state}`);
    });
    await s.create('main', all(1));
    await s.ready();
    await s.stopControllers();
  });
  afterAll(() => stopFollowing());

  it('components that have changed, or are new, are Unknown, and never Ready; what depends on them waits', async () => {
    await s.change('main', all(2));
    for (const name of roots) {
      const message = `${KINDS[name]} default/${name} has no status of its generation yet`;
      await s.becomes(name, { state: 'Unknown', reason: 'StatusMissing', version: `${name}:2`, message });
    }
    const observed = expect.stringMatching(/^Unknown: .* has no status of its generation yet$/) as string;
    await s.becomes('web', { state: 'Waiting', blockedBy: roots, waitingOn: { component: 'db', observed } });
    await s.create('second', [component('late')]);
    await s.becomes('late', { state: 'Unknown', reason: 'StatusMissing' }, 'second');
    await sleep(STALE_MS);
    expect(seen.filter((each) => roots.some((name) => each === `${name}:2 Ready`))).toEqual([]);
    expect(await s.condition('Ready')).toMatchObject({ status: 'False' });
    expect(await imageOfWeb()).toBe('web:1');
  });

  it('they are Ready when the controllers are back, and what depends on them is changed then', async () => {
    await s.startControllers();
    await s.ready('main');
    await s.ready('second');
    expect(await imageOfWeb()).toBe('web:2');
    await vi.waitFor(() => expect(seen).toContain('web:2 Ready'), WAIT);
    for (const name of roots) {
      expect(seen.indexOf(`${name}:2 Ready`)).toBeGreaterThan(seen.indexOf(`${name}:2 Unknown`));
    }
  });
});
