import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { V1PolicyRule, V1StorageClass } from '@kubernetes/client-node';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { resourceOfKind } from '../../../src/controllers/trafficstack/render/kinds.ts';
import type { Resource } from '../../../src/runtime/client/resource.ts';
import { NAMESPACES, NODES, SERVICE_ACCOUNTS } from '../../../src/runtime/client/resources.ts';
import { audited, untilQuiet } from '../../harness/audit.ts';
import { inParallel } from '../../harness/inParallel.ts';
import { measured, seconds, sleep } from '../../harness/measured.ts';
import { giveRoom } from '../injection/world.ts';
import { CROWDED, DARK, faultRows, FULL, type FaultRow } from './faultTable.ts';
import { NODE, setReady } from './kubelet.ts';
import { makeQuota } from './quota.ts';
import { component, LEASE_RIGHTS, PERSON, startScene, WAIT, type StackScene } from './scene.ts';

/** Faults of all kinds, at all places of a graph, all at once in one cluster: what waits names the one that is at fault. */
const USER = 'stack-faults';
const STORAGE_CLASSES: Resource<V1StorageClass> = {
  ...{ group: 'storage.k8s.io', version: 'v1', kind: 'StorageClass', plural: 'storageclasses', namespaced: false },
};
const ROWS = faultRows();
const QUIET_STACKS = 20;
const QUIET_MS = 30_000;
let s: StackScene;
let began: number;

beforeAll(async () => {
  s = await startScene(USER, {
    plane: { serviceAccounts: true },
    controllers: ['serviceaccount-controller', 'resourcequota-controller'],
    rights: (rules) => [...rules.map(withoutServices), LEASE_RIGHTS],
    args: ['--leader-elect'],
  });
  await giveRoom(s.f, [NODE], '500');
  await s.f.addNode(DARK);
  await setReady(s.f.client, DARK, 'Unknown');
  // A DaemonSet gives no pod to a node with this taint, which each new node has.
  await s.f.client.mergePatch(NODES, { name: DARK }, { spec: { taints: null } }, PERSON);
  s.kubelet.off.add(DARK);
  for (const name of [FULL, CROWDED, 'traffic-operator-system'])
    await s.f.client.create(NAMESPACES, { metadata: { name } });
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
  const quiet = Array.from({ length: QUIET_STACKS }, (_, n) => n);
  await inParallel(quiet, (n) => s.create(`quiet-${n}`, quietComponents(n)));
  for (const { id } of deleted) await s.ready(id);
  deleted.forEach(reports);
  await makeQuota(s, CROWDED, {
    ...{ 'count/deployments.apps': '0', 'count/statefulsets.apps': '0', 'count/daemonsets.apps': '0' },
  });
  await inParallel(deleted, async ({ id, bad: { name, workload }, components }) => {
    await s.change(id, components);
    await s.f.client.delete(resourceOfKind(workload.kind), { namespace: workload.namespace, name });
  });
}

function quietComponents(n: number): ComponentSpec[] {
  return [
    component(`q${n}-db`, { kind: 'StatefulSet' }),
    component(`q${n}-api`, { dependsOn: [`q${n}-db`] }),
    component(`q${n}-agent`, { kind: 'DaemonSet' }),
  ];
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
  if (place === 'beside') expect(find(`${id}-x`)?.waitingOn?.component).toBe(`${id}-other`);
}

it('has at least 50 faults', () => {
  expect(ROWS.length).toBeGreaterThanOrEqual(50);
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

it('names a dependency that is taken out of the spec', async () => {
  const [row] = ROWS;
  const { id, bad, components } = row!;
  await s.change(
    id,
    components.filter(({ name }) => name !== bad.name),
  );
  await vi.waitFor(async () => {
    const message = `${id}-b depends on ${bad.name}, which is no component of the stack`;
    expect(await s.condition('Stalled', id)).toMatchObject({ status: 'True', reason: 'InvalidDependencies', message });
  }, WAIT);
});

it('removes all of them', async () => {
  await inParallel(ROWS, ({ id }) => s.f.client.delete(TRAFFIC_STACKS, { name: id }));
  await vi.waitFor(async () => {
    expect(await s.f.client.list(TRAFFIC_STACKS)).toHaveLength(QUIET_STACKS);
    expect(await s.workloads()).toHaveLength(QUIET_STACKS * 3);
  }, WAIT);
});

it('sends at most one request in a second while 20 stacks are ready', async () => {
  for (let n = 0; n < QUIET_STACKS; n += 1) await s.ready(`quiet-${n}`);
  await untilQuiet(s.f.controlPlane, USER);
  const since = Date.now();
  await sleep(QUIET_MS);
  const requests = audited(s.f.controlPlane).filter(
    ({ user, at }) => user === USER && at >= since && at < since + QUIET_MS,
  );
  const counts = new Map<string, number>();
  for (const { verb, resource } of requests) {
    const key = `${verb} ${resource}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const by = [...counts].map(([key, count]) => `${count} ${key}`).join(', ');
  measured(`${requests.length} requests in ${seconds(QUIET_MS)} with ${QUIET_STACKS} stacks: ${by}`);
  // Its Lease is renewed: a count of nothing would be of the wrong user.
  expect(requests.length).toBeGreaterThan(0);
  expect(requests.length).toBeLessThanOrEqual(QUIET_MS / 1_000);
});
