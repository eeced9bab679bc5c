import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { NAMESPACES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import type { Operator } from '../harness/operator.ts';
import { audited } from '../harness/audit.ts';
import { measured, sleep, until } from '../harness/measured.ts';
import { withNodeOptions } from '../harness/nodeOptions.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** An operator that runs out of memory, again and again, while TrafficWatches are too large for it. */
const KEY = unfitKey('web');
const WAIT = { timeout: 90_000, interval: 200 };
/**
 * MiB: enough for the operator with a few objects, which from its sources needs 46, not for what is created below,
 * which is more than it by far.
 */
const HEAP = 64;
const LARGE = 120;
const LARGE_BYTES = 700_000;

let f: Fixture;
let operator: Operator;
const start = (): Promise<Operator> =>
  withNodeOptions(`--max-old-space-size=${HEAP}`, () => f.startOperator(['--leader-elect']));
const isGone = (): boolean => {
  try {
    process.kill(operator.pid, 0);
    return false;
  } catch {
    return true;
  }
};

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  f.exporter.setPercent('n2', 60);
  await f.client.create(NAMESPACES, { metadata: { name: 'traffic-operator-system' } });
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  operator = await start();
  await vi.waitFor(async () => {
    expect(isGone(), operator.log()).toBe(false);
    expect(await f.labels(KEY)).toEqual({ n1: 'false', n2: 'true' });
    expect((await f.watch('web')).status).toMatchObject({ ready: true, unknownNodes: 0 });
  }, WAIT);
});
afterAll(async () => {
  await f.stop();
});

/** A TrafficWatch with the label of an existing one: stalled, so that it asks for no labels of its own. */
function large(name: string): TrafficWatch {
  const { spec, ...rest } = web;
  const text = Array.from({ length: LARGE_BYTES / 10 }, (_, n) => String(n).padStart(10)).join('');
  const deployment = spec.deployment!;
  const template = structuredClone(deployment.template);
  template.metadata = { ...template.metadata, annotations: { 'example.com/large': text } };
  const metadata = { namespace: 'default', name };
  return { ...rest, metadata, spec: { ...spec, label: 'web', deployment: { ...deployment, template } } };
}
let web: TrafficWatch;

const patches = (): number =>
  audited(f.controlPlane).filter(({ verb, resource }) => verb === 'patch' && resource === 'nodes').length;

it('dies of memory and is started again: labels stay, and it recovers', async () => {
  const [versions, before] = [await f.nodeVersions(), patches()];
  const { apiVersion, kind, spec } = await f.watch('web');
  web = { apiVersion: apiVersion!, kind: kind!, spec };
  // All of them, though it dies before the last: one that starts with no more than it died of might just live.
  let survived = 0;
  for (let n = 0; n < LARGE; n += 1) {
    await f.client.create(TRAFFIC_WATCHES, large(`large-${n}`));
    if (!isGone()) survived = n + 1;
  }
  await until('it has died', isGone);
  measured(`with a heap of ${HEAP} MiB it died after ${survived} TrafficWatches of ${LARGE_BYTES} bytes`);
  let deaths = 1;
  for (; deaths < 3; deaths += 1) {
    await start().then(
      async (started) => {
        await operator.kill(); // what is left of it: its directory
        operator = started;
      },
      () => undefined,
    );
    await until('it has died again', isGone);
  }
  expect(operator.log()).toContain('heap out of memory');
  await operator.kill();
  // One after the other: together they would take longer than a call may.
  for (let n = 0; n < LARGE; n += 1) {
    const ref = { namespace: 'default', name: `large-${n}` };
    await f.client.mergePatch(TRAFFIC_WATCHES, ref, { metadata: { finalizers: null } }, { fieldManager: 'person' });
    await f.client.delete(TRAFFIC_WATCHES, ref);
  }
  operator = await start();
  const { status } = await f.watch('web');
  await vi.waitFor(async () => {
    expect((await f.watch('web')).status?.nodes?.n1?.time).toBeGreaterThan((status?.nodes?.n1?.time ?? 0) + 2);
  }, WAIT);
  await sleep(1_000);
  expect(await f.nodeVersions()).toEqual(versions);
  measured(`out of memory ${deaths} times: ${patches() - before} writes to nodes meanwhile`);
  expect(patches()).toBe(before);
});
