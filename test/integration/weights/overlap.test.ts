import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS } from '../../../src/api/trafficweight/trafficWeight.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { follow } from '../../harness/follow.ts';
import { startOperator, type Operator } from '../../harness/operator.ts';
import { Ingresses, PERSON } from './ingresses.ts';
import { startScene, WAIT, weightNamed, type WeightScene } from './scene.ts';

/**
 * Two processes that both write, as for a moment when an older manager, which gave records their weights, and the process for DNS weights
 * have different Leases.
 */
let scene: WeightScene;
let second: Operator;
let ingresses: Ingresses;
let stopFollowing: () => Promise<void>;
/** The weights of the record, in the order in which they were written. */
const seen: number[] = [];

beforeAll(async () => {
  scene = await startScene('overlapping');
  const { f } = scene;
  ingresses = new Ingresses(f.client);
  await scene.startOperator();
  const { kubeconfig } = f.controlPlane;
  second = await startOperator({ kubeconfig, prometheusUrl: f.prometheusUrl, command: 'trafficweights' });
  stopFollowing = await follow(f.controlPlane, DNS_ENDPOINTS, ({ object: { spec } }) => {
    const weight = Number(spec?.endpoints?.[0]?.providerSpecific?.[0]?.value);
    if (seen.at(-1) !== weight) seen.push(weight);
  });
  await ingresses.deploy('web');
});
afterAll(async () => {
  await stopFollowing();
  await second.kill();
  await scene.f.stop();
});

const change = (spec: object): Promise<unknown> =>
  scene.f.client.mergePatch(TRAFFIC_WEIGHTS, { name: 'main' }, { spec }, PERSON);
const settled = (weight: number): Promise<void> =>
  vi.waitFor(async () => {
    expect((await weightNamed(scene.f)).status).toMatchObject({ currentWeight: weight, appliedWeight: weight });
    expect(seen.at(-1)).toBe(weight);
  }, WAIT);

it('write the same, so that no weight goes back, also in a ramp', async () => {
  const spec = { clusterName: 'cluster-a', recordTTL: 1, acknowledge: 'Applied' as const };
  await scene.f.client.create(TRAFFIC_WEIGHTS, {
    metadata: { name: 'main' },
    spec: { ...spec, backend: { static: { weight: 10 } } },
  });
  await settled(10);
  await change({ backend: { static: { weight: 60 } } });
  await settled(60);
  // Steps are 2 s apart: twice the TTL.
  await change({ ramp: { step: 20 }, backend: { static: { weight: 120 } } });
  await settled(120);
  expect(seen).toEqual([10, 60, 80, 100, 120]);
});
