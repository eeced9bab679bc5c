import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { audited } from '../harness/audit.ts';
import { measured, seconds, until } from '../harness/measured.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** A thousand nodes that come and go while the operator labels them. */
const KEY = unfitKey('web');
const WAIT = { timeout: 90_000, interval: 200 };
const MANY = Array.from({ length: 1_000 }, (_, n) => `many-${n}`);
const BATCH = 50;

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2', 'n3'] });
  f.exporter.setPercent('n2', 60);
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await f.startOperator([], { kubeconfig: await f.controlPlane.user('operator', ['system:masters']) });
  await vi.waitFor(async () => {
    expect(await f.labels(KEY)).toEqual({ n1: 'false', n2: 'true', n3: 'false' });
    expect((await f.watch('web')).status).toMatchObject({ ready: true, unknownNodes: 0 });
  }, WAIT);
});
afterAll(async () => {
  await f.stop();
});

async function inBatches(each: (name: string) => Promise<unknown>): Promise<void> {
  for (let begin = 0; begin < MANY.length; begin += BATCH)
    await Promise.all(MANY.slice(begin, begin + BATCH).map(each));
}

const patches = () =>
  audited(f.controlPlane).filter(
    ({ user, verb, resource }) => user === 'operator' && verb === 'patch' && resource === 'nodes',
  );

it('only they are touched', async () => {
  const versions = await f.nodeVersions();
  const before = patches().length;
  for (const name of MANY) f.exporter.setPercent(name, 1);
  await inBatches((name) => f.addNode(name));
  await until('a pass labels them', () => patches().length > before + 100);
  const from = performance.now();
  await inBatches((name) => f.removeNode(name));
  for (const name of MANY) f.exporter.remove(name);
  const took = await until('the operator has forgotten them', async () => {
    const { status } = await f.watch('web');
    const cached = (await metricsOf(f.operator())).sum('reflector_objects', { resource: 'nodes' });
    return cached === 3 && status?.fitNodes === 2 && status.unfitNodes === 1 && status.unknownNodes === 0;
  });
  const made = patches().slice(before);
  const missed = made.filter(({ code }) => code === 404);
  measured(
    `1,000 nodes deleted during a pass: ${made.length} patches, ${missed.length} of them answered 404; forgotten ${seconds(took)} after the last deletion began at ${seconds(performance.now() - from)}`,
  );
  expect(made.filter(({ name }) => !name.startsWith('many-'))).toEqual([]);
  expect(made.filter(({ code }) => code !== 200 && code !== 404)).toEqual([]);
  expect(await f.nodeVersions()).toEqual(versions);
});
