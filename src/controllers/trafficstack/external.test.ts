import { expect, it } from 'vitest';
import type { ComponentSpec, WorkloadSpec } from '../../api/trafficstack/trafficStack.ts';
import { component, live } from './testing/stacks.ts';
import { SimulatedCluster } from './testing/simulatedCluster.ts';

const DB = component('db');
const db = (mode: ComponentSpec['mode'], over: Partial<WorkloadSpec> = {}): ComponentSpec => {
  return { ...DB, mode, workload: { ...DB.workload, services: [{ name: 'db', ports: [{ port: 5432 }] }], ...over } };
};

/** A cluster with a component of the stack that is ready, and a Deployment of somebody else. */
async function scene() {
  const cluster = new SimulatedCluster([db('Managed')]);
  await cluster.reconcile();
  cluster.turn('db', true);
  await cluster.reconcile();
  cluster.objects.set('Deployment shop/theirs', theirs(1));
  const names = () => [...cluster.objects.keys()].filter((id) => !id.startsWith('ControllerRevision')).sort();
  return { cluster, names };
}
const SPEC = { replicas: 2, template: DB.workload.podTemplate };
const theirs = (available: number) =>
  live({ kind: 'Deployment', metadata: { namespace: 'shop', name: 'theirs' }, ...{ spec: SPEC } }, available);

it('what a component had is removed when the workload of somebody else that it has now is ready', async () => {
  const { cluster, names } = await scene();
  cluster.change([db('External', { name: 'theirs' })]);
  await cluster.reconcile();
  expect(names()).toEqual(['Deployment shop/db', 'Deployment shop/theirs', 'Service shop/db']);
  cluster.objects.set('Deployment shop/theirs', theirs(2));
  await cluster.reconcile();
  await cluster.reconcile();
  // A Service of the stack that is External now stays until the stack is deleted.
  expect([...cluster.objects.keys()].sort()).toEqual(['Deployment shop/theirs', 'Service shop/db']);
  cluster.delete();
  for (let round = 0; round < 3; round += 1) await cluster.reconcile();
  expect([cluster.stack, names()]).toEqual([undefined, ['Deployment shop/theirs']]);
});

it('one that may be made by somebody else is looked for while it waits', async () => {
  const web = (mode: ComponentSpec['mode']) => component('web', { mode, dependsOn: ['disk'] });
  const cluster = new SimulatedCluster([component('disk'), web('Managed')]);
  await cluster.reconcile();
  expect(cluster.lookAgainMs).toBe(300_000);
  cluster.change([component('disk'), web('Auto')]);
  await cluster.reconcile();
  expect(cluster.lookAgainMs).toBe(10_000);
});
