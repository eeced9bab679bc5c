import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { measured, seconds, sleep, until } from '../harness/measured.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { startApiProxy, type ApiProxy } from '../harness/proxy.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** Lines of a watch that are cut off or no JSON, as the operator's process meets them. */
const KEY = unfitKey('web');
const WAIT = { timeout: 90_000, interval: 200 };

let f: Fixture;
let proxy: ApiProxy;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  f.exporter.setPercent('n2', 60);
  proxy = await startApiProxy(f.controlPlane);
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await f.startOperator([], { kubeconfig: proxy.kubeconfig });
  await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual({ n1: 'false', n2: 'true' }), WAIT);
});
afterAll(async () => {
  await f.stop();
  await proxy.stop();
});

const badLines = async (resource: string): Promise<number> =>
  (await metricsOf(f.operator())).sum('reflector_bad_lines_total', { resource });
const cached = async (): Promise<number> =>
  (await metricsOf(f.operator())).sum('reflector_objects', { resource: 'nodes' });

it.each([
  ['cut off', (text: string) => ({ text: text.slice(0, text.length / 2), end: true })],
  ['no JSON', (text: string) => ({ text: `${text.slice(0, text.length / 2)}\n` })],
] as const)('a line that is %s is counted and made up for', async (what, spoil) => {
  const [before, versions, nodes] = [await badLines('nodes'), await f.nodeVersions(), await cached()];
  const name = `after-${what.replaceAll(' ', '-').toLowerCase()}`;
  f.exporter.setPercent(name, 1);
  let isSpoilt = false;
  const spoilOnce = (text: string): { text: string; end?: boolean } => {
    if (isSpoilt || !text.includes(`"name":"${name}"`)) return { text: `${text}\n` };
    isSpoilt = true;
    return spoil(text);
  };
  proxy.fault = ({ isWatch, path }) =>
    isWatch && path === '/api/v1/nodes' ? { kind: 'rewrite', line: spoilOnce } : undefined;
  const begun = proxy.requests.length;
  for (const request of proxy.requests.filter((r) => r.isWatch && r.endedAt === undefined)) request.end();
  await until('nodes are watched through the fault', () =>
    proxy.requests.slice(begun).some((r) => r.isWatch && r.path === '/api/v1/nodes' && r.status === 200),
  );
  await sleep(500);
  await f.addNode(name);
  const took = await until('the cache has the node', async () => (await cached()) === nodes + 1);
  measured(`a watch line that is ${what} is made up for in ${seconds(took)}`);
  expect(isSpoilt).toBe(true);
  expect((await badLines('nodes')) - before).toBe(1);
  expect(await badLines('trafficwatches.traffic.example.com')).toBe(0);
  await vi.waitFor(async () => expect((await f.labels(KEY))[name]).toBe('false'), WAIT);
  const now = await f.nodeVersions();
  expect([now.n1, now.n2]).toEqual([versions.n1, versions.n2]);
});
