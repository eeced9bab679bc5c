import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { V1Node } from '@kubernetes/client-node';
import { NODES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';

/** spec.minHold on a real API server and Prometheus, over a restart of the operator. */
const WAIT = { timeout: 150_000, interval: 200 };
const KEY = 'web.traffic.example.com/unfit';
const HOLD_MS = 60_000;

let f: Fixture;
beforeAll(async () => {
  // Its figures are close to the thresholds: a late scrape must not move them.
  f = await startFixture({ nodes: ['n1', 'n2'], withTimes: true });
  await f.startOperator();
  await f.createWatch('web', { maxBandwidthPercent: '60', minHold: `${HOLD_MS / 1000}s` });
  await expectLabel('false');
});
afterAll(() => f.stop());

async function expectLabel(value: string): Promise<void> {
  await vi.waitFor(async () => expect((await f.labels(KEY)).n1).toBe(value), WAIT);
}

async function expectHeld(): Promise<void> {
  await vi.waitFor(
    async () =>
      expect((await f.watch('web')).status?.nodes?.n1).toMatchObject({ verdict: 'Fit', reason: 'HeldByMinHold' }),
    WAIT,
  );
}

/** When the API server last saw the operator change a label of the node. */
async function changedAt(): Promise<number> {
  const node: V1Node = await f.client.get(NODES, { name: 'n1' });
  const entries = node.metadata?.managedFields ?? [];
  const mine = entries.find(({ manager }) => manager === 'traffic-operator-trafficwatch');
  return new Date(mine?.time ?? 0).getTime();
}

describe('minHold', () => {
  it('holds the label until its time has passed, also over a restart', async () => {
    const first = await changedAt();
    f.exporter.setPercent('n1', 90);
    await expectHeld();
    expect((await f.labels(KEY)).n1).toBe('false');
    await f.restartOperator();
    await expectLabel('true');
    const held = (await changedAt()) - first;
    expect(held).toBeGreaterThanOrEqual(HOLD_MS);
  });

  it('corrects a label that somebody else changes at once', async () => {
    const own = await changedAt();
    await f.setLabels('n1', { [KEY]: 'false' });
    await expectLabel('true');
    expect((await changedAt()) - own).toBeLessThan(HOLD_MS);
  });

  it('does not wait for the label of another TrafficWatch, which changes again and again', async () => {
    const label = async (watch: string) => (await f.labels(`${watch}.traffic.example.com/unfit`)).n2;
    await f.createWatch('busy', { maxBandwidthPercent: '52' });
    await f.createWatch('calm', { maxBandwidthPercent: '45', minHold: `${HOLD_MS / 1000}s` });
    await vi.waitFor(async () => expect([await label('busy'), await label('calm')]).toEqual(['false', 'false']), WAIT);
    const begin = performance.now();
    let changes = 0;
    // Always above 45 %, in turn above and below 52 %.
    for (; (await label('calm')) !== 'true'; changes += 1) {
      expect(performance.now() - begin).toBeLessThan(WAIT.timeout);
      const wanted = changes % 2 === 0 ? 'true' : 'false';
      f.exporter.setPercent('n2', wanted === 'true' ? 57 : 48);
      await vi.waitFor(async () => expect(await label('busy')).toBe(wanted), WAIT);
    }
    expect(changes).toBeGreaterThan(1);
  });

  it('is refused as 0s, and the message says what is allowed', async () => {
    await expect(f.patchWatch('web', { spec: { minHold: '0s' } })).rejects.toMatchObject({
      message: expect.stringMatching(/spec\.minHold.*must be a duration from "1s" to "24h"/) as string,
    });
  });
});
