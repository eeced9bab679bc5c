import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS } from '../../../src/api/trafficweight/trafficWeight.ts';
import { NAMESPACES } from '../../../src/runtime/client/resources.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { ANNOTATION, Ingresses, PERSON } from './ingresses.ts';
import { installGatewayApi, Routes } from './routes.ts';
import { conditionOf, startScene, WAIT, weightNamed } from './scene.ts';

/** Records of HTTPRoutes, in a cluster that gets the Gateway API while the operator runs. */
const USER = 'routing-operator';
let f: Fixture;
let ingresses: Ingresses;
let routes: Routes;

beforeAll(async () => {
  const scene = await startScene(USER);
  f = scene.f;
  [ingresses, routes] = [new Ingresses(f.client), new Routes(f.client)];
  await scene.startOperator();
  await ingresses.deploy('web');
  const spec = { clusterName: 'cluster-a', recordTTL: 60, acknowledge: 'Applied' as const };
  const backend = { static: { weight: 75 } };
  await f.client.create(TRAFFIC_WEIGHTS, { metadata: { name: 'main' }, spec: { ...spec, backend } });
});
afterAll(() => f.stop());

const weights = (route: string) => ingresses.weights(`${route}.httproute`);
const targets = async (route: string) =>
  (await ingresses.endpoint(`${route}.httproute`))?.spec?.endpoints?.map(({ recordType, targets: each }) => [
    recordType,
    each,
  ]);

it('a cluster without the Gateway API has its Ingresses', async () => {
  await vi.waitFor(async () => expect(await ingresses.weights('web')).toEqual({ 'web.example.org': '75' }), WAIT);
  await vi.waitFor(async () => expect(await conditionOf(f, 'Ready')).toMatchObject({ status: 'True' }), WAIT);
});

it('an HTTPRoute has records with the addresses of its Gateway', async () => {
  await installGatewayApi(f.client);
  await ingresses.setReady('api', true);
  await routes.createGateway('gateway', '192.0.2.10');
  await routes.create('api');
  await vi.waitFor(async () => expect(await weights('api')).toEqual({ 'api.example.org': '75' }), WAIT);
  expect(await targets('api')).toEqual([['A', ['192.0.2.10']]]);
  const { metadata } = (await ingresses.endpoint('api.httproute')) ?? {};
  expect(metadata?.ownerReferences).toMatchObject([
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      name: 'api',
      uid: await routes.uid('api'),
      controller: true,
    },
  ]);
  await vi.waitFor(async () => {
    const { status } = await weightNamed(f);
    expect(status).toMatchObject({ ingresses: 2, hosts: 2, dnsEndpoints: 2 });
    expect(status?.explain).toEqual([
      {
        host: 'api.example.org',
        httpRoute: 'default/api',
        weight: 75,
        calculation: 'cluster 75 x ready = 75',
        reason: 'ClusterWeight',
      },
      {
        host: 'web.example.org',
        ingress: 'default/web',
        weight: 75,
        calculation: 'cluster 75 x ready = 75',
        reason: 'ClusterWeight',
      },
    ]);
  }, WAIT);
});

it('a route of a ListenerSet has records with the addresses of the Gateway', async () => {
  await ingresses.setReady('ofset', true);
  await routes.createListenerSet('set', 'gateway');
  await routes.createOfSet('ofset', 'set');
  await vi.waitFor(async () => expect(await weights('ofset')).toEqual({ 'ofset.example.org': '75' }), WAIT);
  expect(await targets('ofset')).toEqual([['A', ['192.0.2.10']]]);
  await routes.delete('ofset');
});

it('its annotation, its Services and its Gateway decide, as with an Ingress', async () => {
  await routes.annotate('api', { [ANNOTATION]: '40' });
  await vi.waitFor(async () => expect(await weights('api')).toEqual({ 'api.example.org': '30' }), WAIT);
  await ingresses.setReady('api', false);
  await vi.waitFor(async () => expect(await weights('api')).toEqual({ 'api.example.org': '0' }), WAIT);
  await ingresses.setReady('api', true);
  await routes.setAddress('gateway', '192.0.2.11');
  await vi.waitFor(async () => expect(await targets('api')).toEqual([['A', ['192.0.2.11']]]), WAIT);
});

it('that replaces an Ingress of its name and host gets the records when the Ingress is gone', async () => {
  await routes.create('web');
  await vi.waitFor(async () => {
    const message =
      '1 of 3 Ingresses and HTTPRoutes are not accepted, the first HTTPRoute default/web: default/web has the records of web.example.org, ' +
      'which lead to lb.example.net instead of 192.0.2.11. Give both the same load balancer, or remove the host from one of the two';
    expect(await conditionOf(f, 'IngressesAccepted')).toMatchObject({ status: 'False', reason: 'Conflict', message });
  }, WAIT);
  await vi.waitFor(async () => {
    const [event] = (await f.events('web')).filter(({ reason }) => reason === 'Conflict');
    expect(event?.regarding).toMatchObject({ kind: 'HTTPRoute', namespace: 'default' });
  }, WAIT);
  expect(await ingresses.weights('web')).toEqual({ 'web.example.org': '75' });
  const owners = async () => (await ingresses.endpoint('web'))?.metadata?.ownerReferences ?? [];
  await vi.waitFor(
    async () => expect((await owners()).map(({ kind }) => kind)).toEqual(['Ingress', 'HTTPRoute']),
    WAIT,
  );
  const [, heir] = await owners();
  await ingresses.delete('web');
  // As the garbage collector does, which does not run here: an object with another owner only loses its reference to the deleted one.
  const left = { metadata: { ownerReferences: [heir] } };
  await f.client.mergePatch(DNS_ENDPOINTS, { namespace: 'default', name: 'web' }, left, PERSON);
  await vi.waitFor(async () => expect(await ingresses.endpoint('web')).toBeUndefined(), WAIT);
  expect(await weights('web')).toEqual({ 'web.example.org': '75' });
});

it('two of one host and Gateway have one record, with the Services of both', async () => {
  await ingresses.setReady('paths', true);
  await routes.create('paths', { host: 'api.example.org' });
  await vi.waitFor(async () => {
    const { status } = await weightNamed(f);
    expect(status?.explain).toContainEqual({
      host: 'api.example.org',
      httpRoute: 'default/paths',
      reason: 'SharedHost',
    });
    expect(await conditionOf(f, 'Ready')).toMatchObject({ status: 'True' });
  }, WAIT);
  await ingresses.setReady('paths', false);
  await vi.waitFor(async () => expect(await weights('api')).toEqual({ 'api.example.org': '0' }), WAIT);
  await ingresses.setReady('paths', true);
  await vi.waitFor(async () => expect(await weights('api')).toEqual({ 'api.example.org': '30' }), WAIT);
  expect(await weights('paths')).toBeUndefined();
});

it('one of another namespace does not change the weight of its host, also while its route is replaced', async () => {
  await f.client.create(NAMESPACES, { metadata: { name: 'tenant' } });
  for (const name of ['first', 'second']) await ingresses.setReady(name, true);
  await routes.create('first', { host: 'moved.example.org' });
  await vi.waitFor(async () => expect(await weights('first')).toEqual({ 'moved.example.org': '75' }), WAIT);
  await routes.createWithoutBackends('tenant', 'hostile', 'moved.example.org');
  await vi.waitFor(async () => {
    const message =
      'Ingresses and HTTPRoutes that do not count for the weight of a host: 1, the first HTTPRoute tenant/hostile: HTTPRoute default/first has the records';
    const condition = await conditionOf(f, 'IngressesAccepted');
    expect(condition).toMatchObject({ status: 'True', message: expect.stringContaining(message) as string });
  }, WAIT);
  expect(await weights('first')).toEqual({ 'moved.example.org': '75' });
  // A moment later, so that the route of the other namespace is older.
  await sleep(1_100);
  await routes.create('second', { host: 'moved.example.org' });
  await routes.delete('first');
  await vi.waitFor(async () => expect(await weights('second')).toEqual({ 'moved.example.org': '75' }), WAIT);
});

describe('a route without backends does not change the weight of a host', () => {
  const HOST = 'moved.example.org';
  /** A later route that has records proves that the earlier ones were seen. */
  async function seen(name: string): Promise<void> {
    await ingresses.setReady(name, true);
    await routes.create(name);
    await vi.waitFor(async () => expect(await weights(name)).toEqual({ [`${name}.example.org`]: '75' }), WAIT);
  }

  it('that the TrafficWeight does not select', async () => {
    const select = { matchLabels: { dns: 'here' } };
    await f.client.mergePatch(NAMESPACES, { name: 'default' }, { metadata: { labels: { dns: 'here' } } }, PERSON);
    await f.client.mergePatch(TRAFFIC_WEIGHTS, { name: 'main' }, { spec: { namespaceSelector: select } }, PERSON);
    await routes.createWithoutBackends('tenant', 'unselected', HOST);
    await seen('after-unselected');
    expect(await weights('second')).toEqual({ [HOST]: '75' });
    expect(JSON.stringify((await weightNamed(f)).status)).not.toContain('tenant/');
  });

  it('that no listener takes', async () => {
    await routes.createWithoutBackends('default', 'nowhere', HOST, 'no-listener');
    await seen('after-nowhere');
    expect(await weights('second')).toEqual({ [HOST]: '75' });
  });

  it('but one that is selected and taken does', async () => {
    await routes.createWithoutBackends('default', 'taken', HOST, 'http');
    await vi.waitFor(async () => expect(await weights('second')).toEqual({ [HOST]: '0' }), WAIT);
    await routes.delete('taken');
    await vi.waitFor(async () => expect(await weights('second')).toEqual({ [HOST]: '75' }), WAIT);
  });
});

it('keeps its records while its Gateway is created again, and loses them when no Gateway accepts it', async () => {
  const { generation } = (await ingresses.endpoint('api.httproute'))?.metadata ?? {};
  await routes.deleteGateway('gateway');
  await ingresses.deploy('later');
  await vi.waitFor(async () => expect(await ingresses.weights('later')).toBeDefined(), WAIT);
  expect((await ingresses.endpoint('api.httproute'))?.metadata?.generation).toBe(generation);
  await routes.createGateway('gateway', '192.0.2.12');
  await vi.waitFor(async () => expect(await targets('api')).toEqual([['A', ['192.0.2.12']]]), WAIT);
  expect(await weights('api')).toEqual({ 'api.example.org': '30' });
  for (const name of ['api', 'paths']) await routes.accept(name, false);
  await vi.waitFor(async () => expect(await ingresses.endpoint('api.httproute')).toBeUndefined(), WAIT);
  expect(await weights('web')).toEqual({ 'web.example.org': '75' });
});
