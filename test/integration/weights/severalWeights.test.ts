import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS, type TrafficWeightSpec } from '../../../src/api/trafficweight/trafficWeight.ts';
import { OWNER_LABEL } from '../../../src/weights/plan/plan.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { Ingresses, PERSON } from './ingresses.ts';
import { conditionOf, startScene, WAIT } from './scene.ts';

/** Two TrafficWeights of one cluster. */
let f: Fixture;
let ingresses: Ingresses;

beforeAll(async () => {
  const scene = await startScene('weights-operator');
  f = scene.f;
  ingresses = new Ingresses(f.client);
  await scene.startOperator();
  await ingresses.deploy('web');
  await create('main', 75);
  await vi.waitFor(async () => expect(await owned('web')).toMatchObject({ owner: 'main', weight: '75' }), WAIT);
});
afterAll(() => f.stop());

const create = (name: string, weight: number, over: Partial<TrafficWeightSpec> = {}): Promise<unknown> => {
  const spec = { clusterName: 'cluster-a', backend: { static: { weight } }, ...over };
  return f.client.create(TRAFFIC_WEIGHTS, { metadata: { name }, spec });
};
const filter = (name: string, annotationFilter: string | null): Promise<unknown> =>
  f.client.mergePatch(TRAFFIC_WEIGHTS, { name }, { spec: { annotationFilter } }, PERSON);

/** Whose the DNSEndpoint of an Ingress is, and its weight. */
async function owned(name: string) {
  const endpoint = await ingresses.endpoint(name);
  const [weight] = Object.values((await ingresses.weights(name)) ?? {});
  return endpoint && { owner: endpoint.metadata?.labels?.[OWNER_LABEL], weight, uid: endpoint.metadata?.uid };
}

async function acceptedBy(name: string): Promise<string | undefined> {
  return (await conditionOf(f, 'IngressesAccepted', name))?.message;
}

it('an Ingress that both select stays with the first, and the second names it', async () => {
  const before = await owned('web');
  await create('second', 10);
  await vi.waitFor(async () => {
    expect(await acceptedBy('second')).toBe(
      '1 of 1 Ingresses and HTTPRoutes are not accepted, the first default/web: DNSEndpoint default/web is of main, and is left alone',
    );
  }, WAIT);
  expect(await owned('web')).toEqual(before);
});

it('an Ingress that goes from one to the other keeps its DNSEndpoint', async () => {
  const { uid } = (await owned('web')) ?? {};
  await filter('main', 'dns=none');
  await vi.waitFor(async () => expect(await owned('web')).toEqual({ owner: 'second', weight: '10', uid }), WAIT);
  await filter('main', null);
  await filter('second', 'dns=none');
  await vi.waitFor(async () => expect(await owned('web')).toEqual({ owner: 'main', weight: '75', uid }), WAIT);
});

it('a host that an Ingress of one has is not given to an Ingress of the other', async () => {
  await ingresses.annotate('web', 'main', 'dns');
  await filter('main', 'dns=main');
  await filter('second', 'dns=second');
  await ingresses.deploy('late', { host: 'web.example.org', annotations: { dns: 'second' } });
  await vi.waitFor(async () => {
    expect(await acceptedBy('second')).toBe(
      '1 of 1 Ingresses and HTTPRoutes are not accepted, the first default/late: default/web has the records of web.example.org',
    );
  }, WAIT);
  expect(await ingresses.endpoint('late')).toBeUndefined();
});

it('an Ingress of one that is deleted goes to the other with its DNSEndpoint', async () => {
  const { uid } = (await owned('web')) ?? {};
  await filter('second', null);
  await f.client.delete(TRAFFIC_WEIGHTS, { name: 'main' });
  await vi.waitFor(async () => expect(await owned('web')).toEqual({ owner: 'second', weight: '10', uid }), WAIT);
});
