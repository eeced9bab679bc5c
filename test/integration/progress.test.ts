import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { PROGRESS_EVERY_MS } from '../../src/controllers/trafficwatch/act/progress.ts';
import { startApiProxy, type ApiProxy } from '../harness/proxy.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';

/** The first labels of a cluster so large, or of an API server so slow, that they take longer than people wait. */
const WAIT = { timeout: 90_000, interval: 200 };
const KEY = 'web.traffic.example.com/unfit';
const COUNT = 156;
/** Twelve patches at once: the nodes take thirteen times as long. The first are written long before the first report. */
const PATCH_MS = 2_000;

let f: Fixture;
let proxy: ApiProxy;
let stopFollowing: () => Promise<void>;
/** What Reconciling said, each thing once: [status, reason, message]. */
const told: string[][] = [];

beforeAll(async () => {
  f = await startFixture({ nodes: Array.from({ length: COUNT }, (_, n) => `n${n}`) });
  proxy = await startApiProxy(f.controlPlane);
  proxy.fault = ({ method, path }) =>
    method === 'PATCH' && path.startsWith('/api/v1/nodes/') ? { kind: 'delay', ms: PATCH_MS } : undefined;
  stopFollowing = await follow(f.controlPlane, TRAFFIC_WATCHES, ({ object: { status } }) => {
    const condition = status?.conditions?.find(({ type }) => type === 'Reconciling');
    if (condition === undefined) return;
    const said = [condition.status, condition.reason, condition.message];
    if (JSON.stringify(said) !== JSON.stringify(told.at(-1))) told.push(said);
  });
  await f.startOperator([], { kubeconfig: proxy.kubeconfig });
});
afterAll(async () => {
  await stopFollowing();
  await proxy.stop();
  await f.stop();
});

it('the status says how many nodes are labelled while the first labels are written', async () => {
  const begin = performance.now();
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => expect(Object.keys(await f.labels(KEY))).toHaveLength(COUNT), WAIT);
  await vi.waitFor(() => expect(told.at(-1)).toEqual(['False', 'UpToDate', expect.anything()]), WAIT);
  const progress = told.filter(([, reason]) => reason === 'Applying');
  // Two, unless the labels took longer than they do by themselves.
  const most = Math.floor((performance.now() - begin) / PROGRESS_EVERY_MS);
  expect(progress.length).toBeGreaterThanOrEqual(2);
  expect(progress.length).toBeLessThanOrEqual(most);
  expect(new Set(progress.map(([status]) => status))).toEqual(new Set(['True']));
  const done = progress.map(([, , message]) => Number(/^(\d+) of 156 nodes are labelled$/.exec(message ?? '')?.[1]));
  expect(done[0]).toBeGreaterThanOrEqual(12);
  for (const [n, count] of done.slice(1).entries()) expect(count).toBeGreaterThan(done[n]!);
  // All of them, if the Deployment, which is written after them, took long.
  expect(done.at(-1)).toBeLessThanOrEqual(COUNT);
  expect(done[0]).toBeLessThan(COUNT);
  // Progress that simply goes on is no news.
  expect((await f.events('web')).map(({ reason }) => reason)).not.toContain('Applying');
});
