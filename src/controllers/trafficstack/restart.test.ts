import { expect, it } from 'vitest';
import { objectKindOf } from '../../api/trafficstack/objectKinds.ts';
import type { ComponentSpec } from '../../api/trafficstack/trafficStack.ts';
import { DEPLOYMENTS, SERVICES } from '../../runtime/client/resources.ts';
import { planStack } from './decide/plan.ts';
import type { Observation, ObservedComponent } from './model/observation.ts';
import { MANIFEST_HASH } from './names.ts';
import { renderStack } from './render/stack.ts';
import { storedIn, controllerRevisionOf } from './render/storedRevision.ts';
import { SimulatedCluster } from './testing/simulatedCluster.ts';
import { at, component, NOW, observed, pod, stackOf } from './testing/stacks.ts';

const NAMES = ['db', 'web', 'front'];
const COMPONENTS = NAMES.map((name, index) => component(name, { dependsOn: NAMES.slice(0, index), deadline: '60s' }));

/** A stack that is ready. */
async function readyStack(): Promise<SimulatedCluster> {
  const cluster = new SimulatedCluster(COMPONENTS);
  for (const name of ['', ...NAMES, ...NAMES]) {
    cluster.turn(name, true);
    await cluster.reconcile();
  }
  expect(states(cluster)).toEqual(['db Ready', 'web Ready', 'front Ready']);
  return cluster;
}
const states = ({ status }: SimulatedCluster) => status.components?.map(({ name, state }) => `${name} ${state}`);
const workloads = (cluster: SimulatedCluster): string[] =>
  [...cluster.objects.keys()].flatMap((id) =>
    id.startsWith(DEPLOYMENTS.kind) ? [id.slice('Deployment shop/'.length)] : [],
  );
/** @param names of the Deployments that are deleted: their pods end with them */
function deleteWorkloads(cluster: SimulatedCluster, ...names: readonly string[]): void {
  for (const name of names) {
    cluster.turn(name, false);
    cluster.objects.delete(`Deployment shop/${name}`);
  }
}
function deleteAll(cluster: SimulatedCluster): void {
  deleteWorkloads(cluster, ...NAMES);
  cluster.objects.clear();
}

it('starts in order again when nothing of it exists, as after a restored backup, also if the operator is killed', async () => {
  const cluster = await readyStack();
  deleteAll(cluster);
  // The status, and nothing else.
  await cluster.reconcile(1);
  await cluster.reconcile();
  await cluster.reconcile();
  expect([workloads(cluster), states(cluster)]).toEqual([['db'], ['db Progressing', 'web Waiting', 'front Waiting']]);
  for (const [index, name] of NAMES.entries()) {
    cluster.turn(name, true);
    await cluster.reconcile();
    await cluster.reconcile();
    expect(workloads(cluster)).toEqual(NAMES.slice(0, index + 2));
  }
  expect(states(cluster)).toEqual(['db Ready', 'web Ready', 'front Ready']);
});

it('has its deadline then, also while nothing of it can be made', async () => {
  const cluster = await readyStack();
  deleteAll(cluster);
  cluster.onApply = () => {
    throw new Error('quota');
  };
  await cluster.reconcile().catch(() => undefined);
  await cluster.clock.advance(61_000);
  await cluster.reconcile().catch(() => undefined);
  expect(states(cluster)?.[0]).toBe('db Failed');
});

it('is repaired at once while one of its workloads exists', async () => {
  const cluster = await readyStack();
  deleteWorkloads(cluster, 'web', 'front');
  cluster.turn('db', false);
  await cluster.reconcile();
  expect(workloads(cluster)).toEqual(NAMES);
});

const JOBS = objectKindOf('batch/v1/jobs/Job')!;
const JOB = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'migrate' }, spec: {} };
const MIGRATE: ComponentSpec = {
  ...{ name: 'migrate', type: 'Objects', objects: { namespace: 'shop', manifests: [{ object: JOB }] } },
};
const SERVED = component('web', { workload: { ...component('web').workload, services: [{ ports: [{ port: 80 }] }] } });

/** The kinds that are applied after the Deployment of a stack was deleted. Its Job has completed and was deleted. */
function applied(over: Partial<Observation>, ofWeb: Partial<ObservedComponent> = {}, live?: string): string[] {
  const result = renderStack(stackOf([]), {}, [MIGRATE], { countNodes: () => 1, builtIns: [], objectKinds: [JOBS] });
  const migrate = 'components' in result ? result.components[0]! : expect.fail(result.problems.join());
  const none = observed(SERVED, 'none');
  const objects = none.objects.map((each) => (each.resource.kind === live ? { ...each, live: each.object } : each));
  const web = { ...none, objects, ...ofWeb };
  const status = ({ spec: { name, type }, revision }: Pick<ObservedComponent, 'spec' | 'revision'>) => {
    const ready = {
      state: 'Ready',
      reason: 'X',
      message: '',
      since: at(0),
      revision,
      readyRevision: revision,
    } as const;
    return { name, type, ...ready };
  };
  const job = { ...migrate.objects[0]!, live: undefined, hash: '', isCurrent: true, isCompleted: true };
  const completed = job.object.metadata?.annotations?.[MANIFEST_HASH] ?? '';
  const ref = (kind: string, name: string) => ({ kind, namespace: 'shop', name });
  const inventory = [
    { component: 'web', dependsOn: [], objects: [ref('Deployment', 'web')] },
    { component: 'migrate', dependsOn: [], objects: [{ ...ref('Job', 'migrate'), completed }] },
  ];
  const plan = planStack({
    stack: stackOf([SERVED, MIGRATE], { components: [web, migrate].map(status), inventory }),
    components: [web, { ...migrate, objects: [job], pods: [] }],
    ...{ left: [], withPods: new Map(), now: NOW, ...over },
  });
  return plan.apply.map(({ resource }) => resource.kind);
}

const content = { name: 'web', namespace: 'shop', revision: 'r0', objects: [] };
const stored = storedIn(controllerRevisionOf(stackOf([]), content, 1))!;
it.each<[string, string[], boolean]>([
  ['nothing of the stack exists', applied({}), true],
  ['pods of the deleted Deployment run', applied({ withPods: new Map([['web', [pod('web-1')]]]) }), false],
  ['its pods were orphaned', applied({ hasOrphanedPods: true }), false],
  ['a Service exists', applied({}, {}, 'Service'), false],
  ['a stored revision exists', applied({}, { stored }), false],
  [
    'an object of an earlier spec exists',
    applied({ left: [{ component: 'web', resource: SERVICES, live: {} }] }),
    false,
  ],
  ['an object cannot be read', applied({ unread: [{ component: 'web', dependsOn: [], objects: [] }] }), false],
])('a completed Job runs again only if nothing can use what it has made: %s', (_, kinds, isAgain) => {
  expect([kinds.includes('Deployment'), kinds.includes('Job')]).toEqual([true, isAgain]);
});
