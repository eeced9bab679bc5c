import type { V1Deployment } from '@kubernetes/client-node';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { KubeObject } from '../../runtime/client/resource.ts';
import type { SimulatedCluster } from './testing/simulatedCluster.ts';
import { component } from './testing/stacks.ts';

/** The suffix that this version of the operator adds to each image: another version renders other pods from the same spec. */
let suffix = '';
let Cluster: typeof SimulatedCluster;

beforeAll(async () => {
  // Files before this one may have loaded the modules.
  vi.resetModules();
  vi.doMock(import('./render/objects.ts'), async (original) => {
    const actual = await original();
    return { ...actual, objectsOf: (...args) => actual.objectsOf(...args).map(otherwise) };
  });
  ({ SimulatedCluster: Cluster } = await import('./testing/simulatedCluster.ts'));
});
beforeEach(() => void (suffix = ''));
afterAll(() => {
  vi.doUnmock('./render/objects.ts');
  vi.resetModules();
});

function otherwise<T extends { readonly object: KubeObject }>(desired: T): T {
  const object = structuredClone(desired.object) as V1Deployment;
  const [container] = object.spec?.template.spec?.containers ?? [];
  if (container?.image !== undefined) container.image += suffix;
  return { ...desired, object };
}

const config = [{ name: 'etc', mountPath: '/etc/app', files: { log: '${common.logLevel}' } }];
const withFiles = (name: string, dependsOn: string[]) => {
  const { workload } = component(name);
  return component(name, { dependsOn, deadline: '60s', workload: { ...workload, config } });
};
const NAMES = ['db', 'cache', 'web', 'api'];
const COMPONENTS = [
  ...[withFiles('db', []), withFiles('cache', [])],
  ...[withFiles('web', ['db']), withFiles('api', ['cache'])],
];

async function readyStack(): Promise<SimulatedCluster> {
  const cluster = new Cluster(COMPONENTS);
  for (const name of ['', ...NAMES, ...NAMES]) {
    cluster.turn(name, true);
    await cluster.reconcile();
  }
  await cluster.reconcile();
  expect(statesOf(cluster)).toEqual(NAMES.map((name) => `${name} Ready AllAvailable`));
  return cluster;
}
const statesOf = ({ status }: SimulatedCluster) =>
  status.components?.map(({ name, state, reason }) => `${name} ${state} ${reason}`);
const images = (cluster: SimulatedCluster) => NAMES.map((name) => cluster.imageOf(name));

it('another rendering of the operator is changed wave by wave, also where nothing depends on what is changed', async () => {
  const cluster = await readyStack();
  suffix = '-new';
  await cluster.reconcile();
  cluster.turn('cache', true);
  await cluster.reconcile();
  await cluster.reconcile();
  expect(images(cluster)).toEqual(['db:1-new', 'cache:1-new', 'web:1', 'api:1']);
  expect(statesOf(cluster)?.slice(2)).toEqual(['web Waiting WaitingForDependencies', 'api Waiting WaitingForWave']);
  cluster.turn('db', true);
  await cluster.reconcile();
  await cluster.reconcile();
  expect(images(cluster)).toEqual(NAMES.map((name) => `${name}:1-new`));
});

it('is rolled back if its pods do not start, and the next wave keeps its pods', async () => {
  const cluster = await readyStack();
  suffix = '-broken';
  await cluster.reconcile();
  cluster.turn('cache', true);
  await cluster.reconcile();
  await cluster.clock.advance(61_000);
  await cluster.reconcile();
  await cluster.reconcile();
  expect(images(cluster)).toEqual(['db:1', 'cache:1-broken', 'web:1', 'api:1']);
  cluster.turn('db', true);
  await cluster.reconcile();
  expect(statesOf(cluster)).toEqual([
    ...['db Failed RolledBack', 'cache Ready AllAvailable'],
    ...['web Waiting UpgradeStopped', 'api Waiting UpgradeStopped'],
  ]);
  // A version of the operator that renders otherwise is a new attempt.
  suffix = '-mended';
  await cluster.reconcile();
  await cluster.reconcile();
  expect(images(cluster)[0]).toBe('db:1-mended');
});

it('writes no object that renders equal', async () => {
  const cluster = await readyStack();
  const written: string[] = [];
  cluster.onApply = (object) => void written.push(object.kind ?? '');
  await cluster.reconcile();
  expect(written).toEqual([]);
});
