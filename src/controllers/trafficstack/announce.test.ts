import { expect, it } from 'vitest';
import { ApiError } from '../../runtime/client/errors.ts';
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

it('what exists is corrected all the same, and the failure is told', async () => {
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
