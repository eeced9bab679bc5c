import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { metricsOf } from '../harness/metricsOf.ts';

/** Two thresholds and many passes, on a real API server and Prometheus. */
const WAIT = { timeout: 90_000, interval: 200 };
const PASSES = 25;

let f: Fixture;
beforeAll(async () => {
  // A pass of which a scrape is missing would begin the count anew.
  f = await startFixture({ nodes: ['n1', 'n2'], withTimes: true });
  await f.startOperator();
});
afterAll(() => f.stop());

async function expectLabel(value: string, watch = 'web'): Promise<void> {
  await vi.waitFor(async () => expect((await f.labels(`${watch}.traffic.example.com/unfit`)).n1).toBe(value), WAIT);
}

async function expectNode(expected: { verdict: string; reason: string }): Promise<void> {
  await vi.waitFor(async () => expect((await f.watch('web')).status?.nodes?.n1).toMatchObject(expected), WAIT);
}

describe('recoverBandwidthPercent', () => {
  it('keeps a node unfit until its load is at or below the second threshold', async () => {
    await f.createWatch('web', { maxBandwidthPercent: '60', recoverBandwidthPercent: '40' });
    await expectLabel('false');
    f.exporter.setPercent('n1', 80);
    await expectLabel('true');
    f.exporter.setPercent('n1', 50);
    await expectNode({ verdict: 'Unfit', reason: 'NotRecovered' });
    f.exporter.setPercent('n1', 20);
    await expectLabel('false');
    f.exporter.setPercent('n1', 50);
    await vi.waitFor(async () => {
      const percent = (await f.watch('web')).status?.nodes?.n1?.currentBandwidthPercent;
      expect(Number(percent)).toBeGreaterThan(45);
    }, WAIT);
    await expectNode({ verdict: 'Fit', reason: 'BelowThreshold' });
  });

  it('is refused above maxBandwidthPercent', async () => {
    const patch = { spec: { recoverBandwidthPercent: '6.1e1' } };
    await expect(f.patchWatch('web', patch)).rejects.toMatchObject({
      message: expect.stringMatching(/spec\.recoverBandwidthPercent.*must be at most maxBandwidthPercent/) as string,
    });
  });
});

describe('passes', () => {
  it('that the operator did not run are read from Prometheus: a restart in mid-sequence loses nothing', async () => {
    f.exporter.setPercent('n1', 1);
    await f.createWatch('api', { maxBandwidthPercent: '60', passes: { unfit: PASSES } });
    await expectLabel('false', 'api');
    await f.stopOperator();
    f.exporter.setPercent('n1', 90);
    // The window of 5 s has to fill, and then a pass a second to agree.
    const begin = performance.now();
    await vi.waitFor(() => expect(performance.now() - begin).toBeGreaterThan((PASSES + 10) * 1000), WAIT);
    const operator = await f.startOperator();
    let run = 0;
    await vi.waitFor(async () => {
      const { n1 } = await f.labels('api.traffic.example.com/unfit');
      // Of passes that had certainly ended before the label was written. One that failed tells nothing of the node.
      if (n1 !== 'true') run = (await metricsOf(operator)).sum('passes_total', { result: 'ok' });
      expect(n1).toBe('true');
    }, WAIT);
    expect(run).toBeLessThan(PASSES);
    expect((await metricsOf(operator)).sum('passes_total', { result: 'ok' })).toBeGreaterThan(0);
  });

  it.each([0, 31, 1.5])('are refused as %d, and the message says what is allowed', async (unfit) => {
    await expect(f.createWatch('odd', { maxBandwidthPercent: '60', passes: { unfit } })).rejects.toMatchObject({
      message: expect.stringMatching(/spec\.passes\.unfit.*(less|greater|integer)/) as string,
    });
  });
});
