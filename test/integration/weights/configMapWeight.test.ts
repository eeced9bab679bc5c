import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS } from '../../../src/api/trafficweight/trafficWeight.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../../src/runtime/client/resources.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { Ingresses, PERSON } from './ingresses.ts';
import { conditionOf, startScene, WAIT, weightNamed } from './scene.ts';

/** A TrafficWeight whose weight a pipeline writes into a ConfigMap. */
const NAMESPACE = 'traffic-operator-system';
const REF = { namespace: NAMESPACE, name: 'weights' };
let f: Fixture;
let ingresses: Ingresses;

beforeAll(async () => {
  const scene = await startScene('configmap-operator', { args: [`--namespace=${NAMESPACE}`] });
  f = scene.f;
  ingresses = new Ingresses(f.client);
  await f.client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  await f.client.create(CONFIG_MAPS, { metadata: REF, data: { 'cluster-a': '75\n' } });
  await scene.startOperator();
  await ingresses.deploy('web');
  const backend = { configMap: { name: 'weights', key: 'cluster-a' } };
  const spec = { clusterName: 'cluster-a', acknowledge: 'Applied' as const, backend };
  await f.client.create(TRAFFIC_WEIGHTS, { metadata: { name: 'main' }, spec });
});
afterAll(() => f.stop());

const write = (value: string): Promise<unknown> =>
  f.client.mergePatch(CONFIG_MAPS, REF, { data: { 'cluster-a': value } }, PERSON);
const has = (weight: string): Promise<void> =>
  vi.waitFor(async () => expect(await ingresses.weights('web')).toEqual({ 'web.example.org': weight }), WAIT);
const says = (reason: string, message: string): Promise<void> =>
  vi.waitFor(async () => {
    const expected = { status: 'False', reason, message: `${message}; the last weight stays` };
    expect(await conditionOf(f, 'BackendRead')).toMatchObject(expected);
  }, WAIT);

it('follows the value of the key', async () => {
  await has('75');
  await vi.waitFor(async () => expect(await conditionOf(f, 'Ready')).toMatchObject({ status: 'True' }), WAIT);
  await write('40');
  await has('40');
  expect(await conditionOf(f, 'Acknowledged')).toBeUndefined();
});

it('keeps the last weight while the value is none, and while the ConfigMap is gone', async () => {
  await write('4O');
  await says('InvalidWeight', 'cluster-a of the ConfigMap weights is "4O": must be an integer from 0 to 255');
  await f.client.delete(CONFIG_MAPS, REF);
  await says('BackendUnavailable', 'there is no ConfigMap weights');
  expect((await weightNamed(f)).status).toMatchObject({ desiredWeight: 40, currentWeight: 40 });
  await has('40');
  await f.client.create(CONFIG_MAPS, { metadata: REF, data: { 'cluster-a': '0' } });
  await has('0');
});
