import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startFixture, type Fixture } from '../harness/fixture.ts';

/** An outage of a real Prometheus that loses its data: no new verdict until the rate window is full again. */
const WAIT = { timeout: 120_000, interval: 200 };
const KEY = 'web.traffic.example.com/unfit';
const WARMING = { verdict: 'Fit', reason: 'WarmingUp', unfit: false };

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  await f.startOperator(['--window=30s']);
  await f.createWatch('web', { maxBandwidthPercent: '60' });
  await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual({ n1: 'false', n2: 'false' }), WAIT);
});
afterAll(() => f.stop());

async function expectNode(node: string, expected: object): Promise<void> {
  await vi.waitFor(async () => expect((await f.watch('web')).status?.nodes?.[node]).toMatchObject(expected), WAIT);
}

describe('after an outage of Prometheus', () => {
  it('a label stays while the rate window fills, and follows the figures then', async () => {
    await f.stopPrometheus();
    await expectNode('n1', { verdict: 'Unknown' });
    f.exporter.setPercent('n1', 90);
    await f.startPrometheus();
    const isWarming = async () => expect((await f.watch('web')).status?.nodes?.n1).toMatchObject(WARMING);
    const meanwhile = await vi.waitFor(async () => {
      await isWarming();
      const { n1 } = await f.labels(KEY);
      await isWarming();
      return n1;
    }, WAIT);
    expect(meanwhile).toBe('false');
    // A verdict that does not change has its usual reason.
    await expectNode('n2', { verdict: 'Fit', reason: 'BelowThreshold' });
    // A node that joins meanwhile gets its first verdict as usual.
    f.exporter.setPercent('n3', 90);
    await f.addNode('n3');
    await vi.waitFor(async () => expect((await f.labels(KEY)).n3).toBe('true'), WAIT);
    await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual({ n1: 'true', n2: 'false', n3: 'true' }), WAIT);
  });

  it('a start of the operator with a Prometheus that has scrapes waits for nothing', async () => {
    await f.restartOperator();
    f.exporter.setPercent('n1', 1);
    const reasons = new Set<string | undefined>();
    await vi.waitFor(async () => {
      reasons.add((await f.watch('web')).status?.nodes?.n1?.reason);
      expect((await f.labels(KEY)).n1).toBe('false');
    }, WAIT);
    expect(reasons).not.toContain('WarmingUp');
  });
});
