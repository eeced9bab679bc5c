import { expect, it } from 'vitest';
import type { ComponentStatus, WorkloadComponent } from '../../../api/trafficstack/trafficStack.ts';
import { CONTROLLER_REVISIONS } from '../../../runtime/client/resources.ts';
import { desiredStackOf, Renderings } from '../desired.ts';
import { controllerRevisionOf } from '../render/storedRevision.ts';
import { SimulatedCluster } from '../testing/simulatedCluster.ts';
import { component, EVERYWHERE, rendered, stackOf } from '../testing/stacks.ts';
import { withPresentRevisions } from './formerRevision.ts';

const DEADLINE_MS = 60_000;
const WEB = component('web', { deadline: '60s' });
const { podTemplate } = component('broken').workload;
const BROKEN = { ...WEB, workload: { ...WEB.workload, podTemplate } };

/** A cluster whose component web is Ready. */
async function ready(web: WorkloadComponent): Promise<SimulatedCluster> {
  const cluster = new SimulatedCluster([web]);
  await cluster.reconcile();
  cluster.turn('web', true);
  await cluster.reconcile();
  cluster.ask();
  await cluster.reconcile();
  expect(statusOf(cluster).state).toBe('Ready');
  return cluster;
}
const statusOf = ({ status }: SimulatedCluster): ComponentStatus => status.components?.[0] ?? expect.fail();

/** Gives the status the revisions of the release before, and replaces the operator. */
async function upgradeOperator(cluster: SimulatedCluster, web: WorkloadComponent): Promise<ComponentStatus> {
  const before = statusOf(cluster);
  const { former } = rendered(web);
  const text = JSON.stringify(cluster.stack).replaceAll(former!.now, former!.revision);
  cluster.stack = JSON.parse(text) as typeof cluster.stack;
  expect(statusOf(cluster)).not.toEqual(before);
  // Killed before its first write.
  expect(await cluster.reconcile(0)).toBe(false);
  return before;
}

it('a Degraded component is not being changed: it has no deadline, and stays Degraded', async () => {
  const cluster = await ready(WEB);
  cluster.turn('web', false);
  await cluster.reconcile();
  const before = await upgradeOperator(cluster, WEB);
  await cluster.reconcile();
  await cluster.clock.advance(DEADLINE_MS + 1);
  await cluster.reconcile();
  expect(before.state).toBe('Degraded');
  expect(statusOf(cluster)).toEqual(before);
});

it('a Ready component is Ready until its query is asked', async () => {
  const web = { ...WEB, ready: { query: 'up == 1' } };
  const cluster = await ready(web);
  const before = await upgradeOperator(cluster, web);
  await cluster.reconcile();
  expect(statusOf(cluster)).toEqual(before);
});

it('a revision that was rolled back is not applied again', async () => {
  const cluster = await ready(WEB);
  cluster.change([BROKEN]);
  await cluster.reconcile();
  await cluster.clock.advance(DEADLINE_MS + 1);
  for (let round = 0; round < 2; round += 1) await cluster.reconcile();
  cluster.turn('web', true);
  await cluster.reconcile();
  const before = await upgradeOperator(cluster, BROKEN);
  await cluster.reconcile();
  expect(before.reason).toBe('RolledBack');
  expect([statusOf(cluster), cluster.imageOf('web')]).toEqual([before, 'web:1']);
});

it('all revisions of a status are renamed that are the former one, and no other', () => {
  const { spec, former } = rendered(WEB);
  const { revision: old, now } = former!;
  const status = (revision: string, other: string): ComponentStatus => ({
    ...{ name: 'web', type: 'Workload', state: 'Failed', reason: 'X', message: '', since: '', revision },
    ...{ readyRevision: revision, lastReadyRevision: revision, earlierReadyRevision: other },
    ...{ unreadyRevision: revision, rolledBackFrom: { revision, message: old } },
  });
  const stack = stackOf([], {
    components: [status(old, 'r0'), { ...status('r0', old), name: 'db' }, status('r0', old)],
  });
  const { components } = withPresentRevisions(stack, [{ spec, ...(former && { former }) }]).status!;
  expect(components).toEqual([status(now, 'r0'), { ...status('r0', old), name: 'db' }, status('r0', now)]);
});

it('a stored revision that is the former one of the spec is the revision of the spec', () => {
  const { former, revision, objects } = rendered(WEB);
  const content = { name: 'web', namespace: 'shop', revision: former!.revision, objects };
  const live = controllerRevisionOf(stackOf([]), content, 1);
  const { name = '' } = live.metadata ?? {};
  const refs = [{ kind: CONTROLLER_REVISIONS.kind, namespace: 'shop', name }];
  const stack = stackOf([WEB], { inventory: [{ component: 'web', dependsOn: [], objects: refs }] });
  const overlay = { get: (key: string) => (key === `shop/${name}` ? live : undefined) };
  const desired = desiredStackOf(
    { ...stack, spec: { ...stack.spec, upgrade: { rollback: true } } },
    {
      renderings: new Renderings({ countNodes: () => 1, builtIns: [] }),
      caches: { kinds: [{ resource: CONTROLLER_REVISIONS, overlay }] } as unknown as Parameters<
        typeof desiredStackOf
      >[1]['caches'],
      allowed: EVERYWHERE,
    },
  );
  expect(desired).toMatchObject({ components: [{ stored: { revision } }] });
});
