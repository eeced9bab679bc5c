import type { V1DaemonSet } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import type { ComponentSpec, WorkloadSpec } from '../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import { DAEMONSETS } from '../../runtime/client/resources.ts';
import type { BuiltIn } from '../contract/builtIn.ts';
import { foreignExporter } from '../measurement/components/foreignExporter.ts';
import { SimulatedCluster } from './testing/simulatedCluster.ts';
import { component, live } from './testing/stacks.ts';

const DB = component('db');
const db = (mode: ComponentSpec['mode'], over: Partial<WorkloadSpec> = {}): ComponentSpec => {
  return { ...DB, mode, workload: { ...DB.workload, services: [{ name: 'db', ports: [{ port: 5432 }] }], ...over } };
};

/** A cluster with a component of the stack that is ready, and a Deployment of another owner. */
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

it('the former objects of a component are removed when its workload of another owner is ready', async () => {
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

it('one that may be made by another owner is looked for while it waits', async () => {
  const web = (mode: ComponentSpec['mode']) => component('web', { mode, dependsOn: ['disk'] });
  const cluster = new SimulatedCluster([component('disk'), web('Managed')]);
  await cluster.reconcile();
  expect(cluster.resyncMs).toBe(300_000);
  cluster.change([component('disk'), web('Auto')]);
  await cluster.reconcile();
  expect(cluster.resyncMs).toBe(10_000);
});

describe('a node-exporter of another owner', () => {
  const OWN = { namespace: 'op', name: 'node-exporter' };
  const EXPORTER: BuiltIn = {
    ...{ type: 'NodeExporter', fieldManager: 'measurement', isDeployed: true },
    render: () => [{ resource: DAEMONSETS, object: { kind: 'DaemonSet', metadata: OWN } }],
    externalProvider: () => foreignExporter(9100, true, 'app=own'),
  };
  const theirs = (namespace: string, pods: number): KubeObject => {
    const containers = [{ name: 'x', ports: [{ containerPort: 9100 }] }];
    const status = {
      ...{ observedGeneration: 1, desiredNumberScheduled: pods, currentNumberScheduled: pods, numberMisscheduled: 0 },
      ...{ updatedNumberScheduled: pods, numberReady: pods, numberAvailable: pods },
    };
    const spec = { selector: {}, template: { spec: { hostNetwork: true, containers } } };
    const daemonSet: V1DaemonSet = { metadata: { namespace, name: 'exporter', generation: 1 }, spec, status };
    return daemonSet;
  };
  const FAKE = theirs('aaa', 0);

  /** A cluster of three nodes with these DaemonSets, after a reconcile. */
  async function clusterWith(...all: readonly KubeObject[]) {
    const spec: ComponentSpec = { name: 'exporter', type: 'NodeExporter', mode: 'Auto', deadline: '60s' };
    const cluster = new SimulatedCluster([spec], [EXPORTER]);
    /** Lists are asked again after 5 s. */
    const next = async (now: readonly KubeObject[], ms = 5_000) => {
      cluster.theirs = now;
      // One that is named is read by its name.
      for (const id of cluster.objects.keys()) if (id.endsWith('/exporter')) cluster.objects.delete(id);
      for (const each of now) cluster.objects.set(`DaemonSet ${each.metadata?.namespace}/exporter`, each);
      await cluster.clock.advance(ms);
      await cluster.reconcile();
      const { state, reason, uses } = cluster.status.components?.[0] ?? {};
      return [cluster.objects.has('DaemonSet op/node-exporter') ? 'its own' : uses?.namespace, state, reason];
    };
    return { cluster, next, first: await next(all) };
  }

  it('without pods does not keep the operator from its own: the Event names it, and what it lacks', async () => {
    const { cluster, first } = await clusterWith(FAKE);
    expect(first[0]).toBe('its own');
    expect(cluster.told.find((each) => each.includes('ComponentStarted'))).toBe(
      'Normal ComponentStarted: exporter is Progressing: to create: DaemonSet op/node-exporter; the operator deploys its own, since ' +
        'DaemonSet aaa/exporter has Ready pods on 0 of 3 nodes that can be measured, and needs more than half',
    );
  });

  it('without pods does not hide one that measures', async () => {
    expect((await clusterWith(FAKE, theirs('monitoring', 3))).first).toEqual(['monitoring', 'Ready', 'AllAvailable']);
  });

  it('that is deleted is waited for, for any time, and neither replaced nor exchanged', async () => {
    const { next } = await clusterWith(theirs('monitoring', 3));
    const missed = ['monitoring', 'Degraded', 'ExternalMissing'];
    expect(await next([])).toEqual(missed);
    expect(await next([FAKE, theirs('other', 3)], 3_600_000)).toEqual(missed);
    expect(await next([theirs('monitoring', 3)])).toEqual(['monitoring', 'Ready', 'AllAvailable']);
    expect(await next([theirs('monitoring', 0)])).toEqual(['monitoring', 'Degraded', 'PodsUnavailable']);
  });
});
