import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { NAMESPACES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import type { Operator } from '../harness/operator.ts';
import { audited } from '../harness/audit.ts';
import { measured } from '../harness/measured.ts';
import { withNodeOptions } from '../harness/nodeOptions.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** An operator whose heap TrafficWatches of another namespace would fill, if it kept their bodies. */
const OTHER = 'other';
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

/** A TrafficWatch that only observes, so that it has no labels of its own. */
function large(name: string): TrafficWatch {
  const { spec, ...rest } = web;
  const text = Array.from({ length: LARGE_BYTES / 10 }, (_, n) => String(n).padStart(10)).join('');
  const deployment = spec.deployment!;
  const template = structuredClone(deployment.template);
  template.metadata = { ...template.metadata, annotations: { 'example.com/large': text } };
  const metadata = { namespace: OTHER, name };
  return { ...rest, metadata, spec: { ...spec, mode: 'Observe', deployment: { ...deployment, template } } };
}
let web: TrafficWatch;

const patches = (): number =>
  audited(f.controlPlane).filter(({ verb, resource }) => verb === 'patch' && resource === 'nodes').length;

it('lives, labels stay, and it decides, also after a restart', async () => {
  const [versions, before] = [await f.nodeVersions(), patches()];
  const { apiVersion, kind, spec } = await f.watch('web');
  web = { apiVersion: apiVersion!, kind: kind!, spec };
  await f.client.create(NAMESPACES, { metadata: { name: OTHER } });
  for (let n = 0; n < LARGE; n += 1) await f.client.create(TRAFFIC_WATCHES, large(`large-${n}`));
  await decides();
  await operator.kill();
  operator = await start();
  await decides();
  expect(isGone(), operator.log()).toBe(false);
  expect(operator.log()).not.toContain('heap out of memory');
  expect(await f.nodeVersions()).toEqual(versions);
  measured(
    `${LARGE} TrafficWatches of ${LARGE_BYTES} bytes, heap of ${HEAP} MiB: ${patches() - before} writes to nodes`,
  );
  expect(patches()).toBe(before);
});

/** Resolves when the operator has decided about `web` again. */
async function decides(): Promise<void> {
  const timeNow = async (): Promise<number> => (await f.watch('web')).status?.nodes?.n1?.time ?? 0;
  const since = await timeNow();
  await vi.waitFor(async () => expect(await timeNow()).toBeGreaterThan(since + 2), WAIT);
}
