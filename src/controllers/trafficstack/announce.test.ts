import type { V1Deployment } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import type { BuiltInType } from '../../api/trafficstack/terms.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import type { BuiltIn, ExternalProvider } from '../contract/builtIn.ts';
import { foreignExporter } from '../measurement/components/foreignExporter.ts';
import { FOREIGN_PROMETHEUS } from '../measurement/components/builtIns.ts';
import { NodeListeners, ServerProbes } from './observe/probes.ts';
import { SimulatedCluster } from './testing/simulatedCluster.ts';
import { component } from './testing/stacks.ts';

const REFUSED = new ApiError({ status: 403, reason: 'Forbidden', method: 'PATCH', path: 'trafficstacks' });

/** A stack, and its components in the status at each of its writes. */
function scene() {
  const cluster = new SimulatedCluster([component('db'), component('web', { dependsOn: ['db'] })]);
  const seen: (string[] | undefined)[] = [];
  cluster.onApply = () => seen.push(cluster.status.components?.map(({ name, state }) => `${name} ${state}`));
  return { cluster, seen };
}

it('the status says what is seen before anything is written', async () => {
  const { cluster, seen } = scene();
  await cluster.reconcile();
  expect(seen).toEqual([['db Progressing', 'web Waiting']]);
  expect(cluster.status.inventory).toHaveLength(1);
});

it('nothing is created while the status, and with it the inventory, cannot be written', async () => {
  const { cluster, seen } = scene();
  cluster.statusRefusal = REFUSED;
  await expect(cluster.reconcile()).rejects.toBe(REFUSED);
  expect(seen).toEqual([]);
});

it('existing objects are corrected all the same, and the failure is reported', async () => {
  const { cluster, seen } = scene();
  for (const name of ['db', 'web', 'web']) {
    await cluster.reconcile();
    cluster.turn(name, true);
  }
  await cluster.reconcile();
  cluster.statusRefusal = REFUSED;
  cluster.turn('db', false);
  const [key, deployment] = [...cluster.objects].find(([id]) => id === 'Deployment shop/db')!;
  cluster.objects.set(key, { ...deployment, spec: {} } as typeof deployment);
  seen.length = 0;
  await expect(cluster.reconcile()).rejects.toBe(REFUSED);
  expect(seen).toHaveLength(1);
});

describe('the status of a new stack is there while', () => {
  const PROMETHEUS = {
    metadata: { namespace: 'monitoring', name: 'prometheus-operated' },
    spec: { ports: [{ name: 'web', port: 9090 }] },
  } as KubeObject;

  /** A stack of something external that does not answer, and of what does not need it. */
  function hangingScene(type: BuiltInType, externalProvider: ExternalProvider) {
    const builtIn: BuiltIn = { type, isDeployed: false, render: () => [], externalProvider: () => externalProvider };
    const cluster = new SimulatedCluster([{ name: 'theirs', type, mode: 'External' }, component('db')], [builtIn]);
    const { clock } = cluster;
    let isAsked = (): void => undefined;
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    const hang = (): Promise<never> => {
      isAsked();
      return new Promise(() => undefined);
    };
    const node = { name: 'n1', addresses: ['192.0.2.1'], labels: {}, neverMeasured: undefined };
    cluster.asks = {
      probes: new ServerProbes({ clock, nodes: () => [node], ask: hang }),
      listeners: new NodeListeners({ clock, nodes: () => [node], get: hang }),
    };
    return { cluster, asked };
  }

  it.each<[what: string, type: BuiltInType, externalProvider: ExternalProvider, theirs: KubeObject[], reason: string]>([
    ['a server', 'Prometheus', FOREIGN_PROMETHEUS, [PROMETHEUS], 'ExternalUnusable'],
    ['a node', 'NodeExporter', foreignExporter(9100, false, 'app=x'), [], 'ExternalMissing'],
  ])('%s does not answer, and says what is seen after that', async (_, type, externalProvider, theirs, reason) => {
    const { cluster, asked } = hangingScene(type, externalProvider);
    cluster.theirs = theirs;
    const reconciling = cluster.reconcile();
    await asked;
    const shown = cluster.status.components?.map(({ name, state, message }) => `${name} ${state} ${message}`);
    expect(shown).toEqual(['theirs Unknown not looked at yet', 'db Unknown not looked at yet']);
    expect(cluster.status).toMatchObject({ observedGeneration: 2, summary: '0/2', inventory: [] });
    const conditions = cluster.status.conditions?.map(({ type, status }) => `${type} ${status}`);
    expect(conditions).toEqual(['Ready False', 'Progressing True', 'Degraded Unknown', 'Stalled Unknown']);
    expect([cluster.objects.size, cluster.told]).toEqual([0, []]);
    await cluster.clock.advance(3_000);
    await reconciling;
    expect(cluster.status.components?.map((each) => `${each.name} ${each.state} ${each.reason}`)).toEqual([
      `theirs Progressing ${reason}`,
      'db Progressing Applying',
    ]);
    expect(cluster.objects.size).toBeGreaterThan(0);
  });
});

it('that a component was not looked at yet does not open the gate for it', async () => {
  const db = component('db');
  const cluster = new SimulatedCluster([db]);
  await cluster.reconcile();
  // A stack of the same name is made again: its objects are there, and their pods are not available.
  const { metadata, spec } = cluster.stack!;
  const podTemplate = { spec: { containers: [{ name: 'db', image: 'db:2' }] } };
  cluster.stack = { metadata, spec: { ...spec, upgrade: { query: 'up' } } };
  cluster.change([{ ...db, workload: { ...db.workload, podTemplate } }]);
  cluster.isTrue = () => false;
  await cluster.reconcile();
  cluster.ask();
  await cluster.reconcile();
  expect(cluster.status.components?.[0]).toMatchObject({ state: 'Waiting', reason: 'WaitingForGate' });
  expect(cluster.imageOf('db')).toBe('db:1');
});

describe('the Events about a stack', () => {
  async function reconcileOften(cluster: SimulatedCluster): Promise<void> {
    for (let n = 0; n < 4; n += 1) await cluster.reconcile();
  }

  const withoutNotes = (told: readonly string[]): string[] => told.map((each) => each.replace(/:.*/, ''));

  it('tell the way of each component once, also over restarts of the operator', async () => {
    const { cluster } = scene();
    // With a rollback, a component counts as ready only when its revision is stored.
    cluster.stack!.spec.upgrade = {};
    for (const name of ['db', 'web']) {
      // Each time it is killed before another write, it is another operator.
      for (let writes = 0; !(await cluster.reconcile(writes)); writes += 1);
      await cluster.reconcile();
      cluster.turn(name, true);
    }
    await cluster.reconcile();
    await cluster.reconcile();
    expect(cluster.told).toEqual([
      'Normal ComponentStarted: db is Progressing: to create: Deployment shop/db',
      'Normal ComponentWaiting: web is Waiting: waits for db: Progressing: to create: Deployment shop/db',
      'Normal ComponentReady: db is Ready: Deployment shop/db: 2 of 2 pods are available',
      'Normal ComponentStarted: web is Progressing: to create: Deployment shop/web',
      'Normal ComponentReady: web is Ready: Deployment shop/web: 2 of 2 pods are available',
      'Normal AllReady: Ready: All components are ready: 2/2.',
    ]);
  });

  it('are three of a component and one of the stack while a row of nine is brought up', async () => {
    const row = Array.from({ length: 9 }, (_, n) => component(`c${n}`, n === 0 ? {} : { dependsOn: [`c${n - 1}`] }));
    const cluster = new SimulatedCluster(row);
    for (const { name } of row) {
      await cluster.reconcile();
      await cluster.reconcile();
      cluster.turn(name, true);
    }
    await cluster.reconcile();
    // The first one waits for nothing.
    expect(cluster.told).toHaveLength(9 * 3 - 1 + 1);
  });

  it('name no component while an autoscaler adds pods over and over', async () => {
    const cluster = new SimulatedCluster([component('db')]);
    await cluster.reconcile();
    cluster.turn('db', true);
    await cluster.reconcile();
    const before = cluster.told.length;
    const states = new Set<string | undefined>();
    for (let replicas = 3; replicas < 8; replicas += 1) {
      for (const available of [replicas - 1, replicas]) {
        const db = cluster.objects.get('Deployment shop/db') as V1Deployment;
        const status = { ...db.status, replicas, updatedReplicas: replicas, availableReplicas: available };
        cluster.objects.set('Deployment shop/db', { ...db, spec: { ...db.spec!, replicas }, status } as KubeObject);
        await cluster.reconcile();
        states.add(cluster.status.components?.[0]?.state);
      }
    }
    expect([...states].sort()).toEqual(['Progressing', 'Ready']);
    // Of the condition: equal ones within ten minutes are one Event with a count.
    expect(new Set(cluster.told.slice(before))).toEqual(
      new Set(['Normal AllReady: Ready: All components are ready: 1/1.']),
    );
  });

  it('tell of a rollback when it begins, and when it has ended', async () => {
    const old = component('db', { deadline: '60s' });
    const cluster = new SimulatedCluster([old]);
    await cluster.reconcile();
    cluster.turn('db', true);
    await reconcileOften(cluster);
    const before = cluster.told.length;
    const podTemplate = { spec: { containers: [{ name: 'db', image: 'db:2' }] } };
    cluster.change([{ ...old, workload: { ...old.workload, podTemplate } }]);
    await cluster.reconcile();
    cluster.clock.jump(60_000);
    await reconcileOften(cluster);
    cluster.turn('db', true);
    await reconcileOften(cluster);
    expect(withoutNotes(cluster.told.slice(before))).toEqual([
      'Normal ComponentStarted',
      'Warning ComponentFailed',
      'Warning ComponentRollingBack',
      'Normal ComponentRolledBack',
    ]);
  });
});
