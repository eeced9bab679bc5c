import { beforeEach, describe, expect, it } from 'vitest';
import type { ComponentSpec } from '../../api/trafficstack/trafficStack.ts';
import { findCondition } from '../../runtime/controller/conditions.ts';
import { SimulatedCluster } from './testing/simulatedCluster.ts';
import { EVERYWHERE, component } from './testing/stacks.ts';

/** An operator that may write the objects of stacks in some namespaces only. */
const SHOP = { ...EVERYWHERE, namespaces: ['shop'] };
const db = component('db');
const web = (namespace: string): ComponentSpec => {
  const { workload } = component('web');
  return component('web', { dependsOn: ['db'], workload: { ...workload, namespace } });
};

let cluster: SimulatedCluster;
let written: string[];

beforeEach(() => {
  written = [];
});

/** The stack, as an operator without a list has made it. */
async function made(components: readonly ComponentSpec[]): Promise<void> {
  cluster = new SimulatedCluster(components);
  cluster.onApply = ({ kind, metadata }) => written.push(`${kind} ${metadata?.namespace}/${metadata?.name}`);
  await cluster.reconcile();
  cluster.turn('db', true);
  await cluster.reconcile();
  await cluster.reconcile();
}
const workloads = () => [...cluster.objects.keys()].filter((id) => id.startsWith('Deployment'));
const stalled = () => findCondition(cluster.status.conditions, 'Stalled');

describe('a stack with an object in a namespace that is not allowed', () => {
  it('is Stalled, says what to do, and nothing of it is written', async () => {
    cluster = new SimulatedCluster([db, web('other')]);
    cluster.allowed = SHOP;
    await cluster.reconcile();
    expect(cluster.objects.size).toBe(0);
    expect(stalled()).toMatchObject({ status: 'True', reason: 'NamespaceNotAllowed' });
    expect(stalled()?.message).toBe(
      'component web: the operator may not write in namespace other: add it to stacks.namespaces of the chart (--stack-namespace), or use an allowed namespace: op, shop',
    );
  });

  it('keeps what exists, unchanged, and goes on when the namespace is allowed', async () => {
    await made([db, web('other')]);
    const before = structuredClone(cluster.objects);
    expect(workloads()).toEqual(['Deployment shop/db', 'Deployment other/web']);
    cluster.allowed = SHOP;
    written = [];
    cluster.change([component('db', { workload: { ...db.workload, replicas: 5 } }), web('other')]);
    await cluster.reconcile();
    expect([written, cluster.objects]).toEqual([[], before]);
    cluster.allowed = { ...EVERYWHERE, namespaces: ['shop', 'other'] };
    await cluster.reconcile();
    expect(written).toContain('Deployment shop/db');
    expect(stalled()).toMatchObject({ status: 'False' });
  });

  it.each([
    ['moved', [db, web('shop')]],
    ['removed from the spec', [db]],
    ['disabled', [db, { ...web('other'), mode: 'Disabled' as const }]],
  ])('is Stalled until that object is gone, if its component was %s', async (_, components) => {
    await made([db, web('other')]);
    cluster.allowed = SHOP;
    cluster.change(components);
    await cluster.reconcile();
    expect(workloads()).toEqual(['Deployment shop/db', 'Deployment other/web']);
    expect(stalled()).toMatchObject({ status: 'True', reason: 'NamespaceNotAllowed' });
    expect(stalled()?.message).toMatch(/^Deployment other\/web .*delete what is no longer needed yourself$/);
    for (const id of cluster.objects.keys()) if (id.includes(' other/')) cluster.objects.delete(id);
    await cluster.reconcile();
    expect(stalled()).toMatchObject({ status: 'False' });
  });

  it('leaves an object that another owner has made there since, with the same labels and annotations', async () => {
    await made([db, web('other')]);
    for (const [id, { metadata }] of cluster.objects) if (id.includes(' other/')) delete metadata?.ownerReferences;
    cluster.allowed = SHOP;
    cluster.change([db]);
    await cluster.reconcile();
    expect(stalled()).toMatchObject({ status: 'False' });
    expect(cluster.status.components?.map(({ name }) => name)).toEqual(['db']);
    expect(workloads()).toContain('Deployment other/web');
  });
});

describe('the deletion of such a stack', () => {
  beforeEach(async () => {
    await made([db, web('other')]);
    cluster.allowed = SHOP;
    cluster.delete();
  });

  it('removes what the operator may, says what is left to Kubernetes, and ends', async () => {
    await cluster.reconcile();
    expect(workloads()).toEqual(['Deployment other/web']);
    expect(stalled()).toMatchObject({ status: 'True', reason: 'NamespaceNotAllowed' });
    expect(stalled()?.message).toContain('may not delete in namespace other');
    expect(cluster.told.at(-1)).toContain('NamespaceNotAllowed');
    await cluster.reconcile();
    expect(cluster.stack).toBeUndefined();
    expect(workloads()).toEqual(['Deployment other/web']);
  });

  it('deletes everything in order, if the namespace is allowed again before', async () => {
    cluster.allowed = EVERYWHERE;
    await cluster.reconcile();
    expect(workloads()).toEqual(['Deployment shop/db']);
  });
});
