import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS, type ComponentSpec, type UpgradeSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { COMPONENT_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { CONTROLLER_REVISIONS, DEPLOYMENTS } from '../../../src/runtime/client/resources.ts';
import { until } from '../../harness/measured.ts';
import { component, PERSON, startScene, WAIT, type StackScene } from './scene.ts';

/** Changes that make a query false after it was answered. Its next regular answer is 10 s later. */
const USER = 'stack-asker';
const IN_DEFAULT = { namespace: 'default' };
const NOT_YET = { reason: 'ContainerCreating', message: '' };
/** A speed of a device: clients are served, or not. */
const [SERVED, UNSERVED] = [2, 1];
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER);
  await clientsAre(SERVED);
  await s.startOperator();
  await s.create('main', shop(1));
  await s.ready();
});
afterAll(() => s.stop());

const METRIC = 'node_network_speed_bytes{node="clients"}';
/** @param n another number is another query, which is asked at once */
const servedQuery = (n: number): string => `max(${METRIC}) >= 1.${n}`;

/** Until Prometheus says so. */
async function clientsAre(speed: number): Promise<void> {
  s.f.exporter.setDevice('clients', 'eth0', { speed });
  const url = `${s.f.prometheusUrl}/api/v1/query?query=${encodeURIComponent(`${METRIC} == ${speed}`)}`;
  await until('Prometheus has scraped it', async () => (await (await fetch(url)).text()).includes('"clients"'));
}

const shop = (n: number) => [
  component('db', { image: `db:${n}` }),
  component('api', { image: `api:${n}`, dependsOn: ['db'] }),
];
const imageOf = async (name: string) =>
  (await s.f.client.get(DEPLOYMENTS, { ...IN_DEFAULT, name })).spec?.template.spec?.containers[0]?.image;
const change = (upgrade: UpgradeSpec, components: readonly ComponentSpec[]) =>
  s.f.client.mergePatch(TRAFFIC_STACKS, { name: 'main' }, { spec: { upgrade, components } }, PERSON);
const state = async (name: string) => {
  const { state: is, reason } = (await s.component(name)) ?? {};
  return `${is} ${reason}`;
};

/** Its pods start when the clients are not served any more, and Prometheus knows it. */
async function breaksClients(image: string): Promise<void> {
  await clientsAre(UNSERVED);
  s.kubelet.brokenImages.delete(image);
}

it('a wave that makes the query of the gate false holds the next one', async () => {
  s.kubelet.brokenImages.set('db:2', NOT_YET);
  await change({ query: servedQuery(1) }, shop(2));
  await vi.waitFor(async () => expect(await imageOf('db')).toBe('db:2'), WAIT);
  await breaksClients('db:2');
  await vi.waitFor(async () => {
    expect([await state('db'), await state('api')]).toEqual(['Ready AllAvailable', 'Waiting WaitingForGate']);
    expect((await s.component('api'))?.message).toMatch(/gives no series$/);
  }, WAIT);
  expect(await imageOf('api')).toBe('api:1');
  await clientsAre(SERVED);
  await s.ready();
  expect(await imageOf('api')).toBe('api:2');
});

it('a version that makes its own query false is never ready, and the one before comes back', async () => {
  const query = servedQuery(2);
  const api = (n: number) => [
    component('db', { image: 'db:1' }),
    component('api', {
      ...{ image: `api:${n}`, dependsOn: ['db'], ready: { query: servedQuery(n) } },
      // Only what cannot be ready has a short deadline.
      ...(n === 2 && { deadline: '20s' }),
    }),
  ];
  await clientsAre(SERVED);
  await change({ query: servedQuery(1), rollback: true }, api(1));
  await s.ready();
  s.kubelet.brokenImages.set('api:2', NOT_YET);
  // It was answered before the change began.
  await change({ query, rollback: true }, api(2));
  await vi.waitFor(async () => expect(await imageOf('api')).toBe('api:2'), WAIT);
  await breaksClients('api:2');
  await vi.waitFor(async () => expect(await state('api')).toBe('Failed RolledBack'), WAIT);
  expect(await s.component('api')).toMatchObject({ version: 'api:1', rolledBackFrom: { version: 'api:2' } });
  const stored = await s.f.client.list(CONTROLLER_REVISIONS, IN_DEFAULT);
  expect(stored.filter(({ metadata }) => metadata?.labels?.[COMPONENT_LABEL] === 'api')).toHaveLength(1);
});
