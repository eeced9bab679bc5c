import { createHistogram } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { describe, expect, it, vi } from 'vitest';
import { createEventLoopLag, LOOK_EVERY_MS, type LooksHistogram } from './eventLoopLag.ts';
import { createRegistry } from '../../manager/metrics.ts';

/** Values of the metrics by statistic. */
async function lags(registry: Registry): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).matchAll(/^nodejs_eventloop_lag_(\w+)_seconds (\S+)$/gm);
  return Object.fromEntries([...lines].map(([, kind = '', value]) => [kind, Number(value)]));
}

/** Blocks the event loop for `ms` milliseconds. */
function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

describe('the lag of the event loop', () => {
  const seen = (...ms: number[]): LooksHistogram => {
    const histogram = createHistogram();
    for (const each of ms) histogram.record(each * 1e6);
    return Object.assign(histogram, { enable: () => true, disable: () => true }) as unknown as LooksHistogram;
  };

  it('is the time between two samples minus the sampling interval', async () => {
    const registry = new Registry();
    const late = Array.from({ length: 98 }, () => LOOK_EVERY_MS);
    createEventLoopLag(registry, seen(...late, LOOK_EVERY_MS + 20, LOOK_EVERY_MS + 300));
    const { min, p50, p99, max, mean } = await lags(registry);
    expect([min, p50]).toEqual([expect.closeTo(0, 3), expect.closeTo(0, 3)]);
    expect([p99, max, mean]).toEqual([expect.closeTo(0.02, 3), expect.closeTo(0.3, 2), expect.closeTo(0.0032, 3)]);
  });

  it('is never negative', async () => {
    const registry = new Registry();
    createEventLoopLag(registry, seen(LOOK_EVERY_MS - 5));
    expect(Object.values(await lags(registry))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('is reset at each scrape, and keeps its value without new samples', async () => {
    const registry = new Registry();
    const histogram = seen(LOOK_EVERY_MS + 300) as unknown as ReturnType<typeof createHistogram>;
    createEventLoopLag(registry, histogram as unknown as LooksHistogram);
    expect((await lags(registry)).max).toBeCloseTo(0.3, 2);
    expect((await lags(registry)).max).toBeCloseTo(0.3, 2);
    histogram.record((LOOK_EVERY_MS + 100) * 1e6);
    expect((await lags(registry)).max).toBeCloseTo(0.1, 2);
  });

  it('is measured in this process, with the metric names of prom-client', async () => {
    const registry = createRegistry();
    // Retry until Node.js has taken a sample, which it does not report.
    await vi.waitFor(async () => {
      block(250);
      await nextTurn();
      expect((await lags(registry)).max).toBeGreaterThan(0.1);
    });
    expect(Object.keys(await lags(registry))).toEqual(['min', 'max', 'mean', 'p50', 'p90', 'p99']);
    expect(await registry.getSingleMetricAsString('nodejs_eventloop_lag_seconds')).toMatch(/\d$/m);
  });
});
