import { expect, it } from 'vitest';
import { DEPLOYMENTS } from '../../runtime/client/resources.ts';
import { SimulatedCluster } from './testing/simulatedCluster.ts';
import { component } from './testing/stacks.ts';

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

it('starts in order again when none of its workloads exists, as after a restored backup, also if the operator is killed', async () => {
  const cluster = await readyStack();
  deleteWorkloads(cluster, ...NAMES);
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
  deleteWorkloads(cluster, ...NAMES);
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
