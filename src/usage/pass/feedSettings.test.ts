import { expect, it } from 'vitest';
import { FakePrometheus } from '../../prometheus/testing/fakePrometheus.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { createUsageFeed } from './feed.ts';
import type { UsageQuery } from './queries.ts';

it('other settings are used from the next pass on, and nothing of the Prometheus before is', async () => {
  const [clock, prometheus, stop] = [new FakeClock(), new FakePrometheus(), new AbortController()];
  prometheus.devices = [{ node: 'a', instance: 'a:9100', device: 'eth0', rate: '5', total: '70', speed: '100' }];
  let query: UsageQuery = { windowSeconds: 20, scrapeIntervalSeconds: 5, matchers: [] };
  const nodes = new Map([['a', {}]]);
  const feed = createUsageFeed({
    endpoint: { url: 'http://prometheus:9090' },
    ...{ query: () => query, intervalMs: 10_000, nodes: () => nodes, clock, client: prometheus },
    logger: createLogger('silent'),
  });
  void feed.run(stop.signal);
  await clock.advance(10_000);
  const before = prometheus.asked.length;
  query = { windowSeconds: 120, matchers: [] };
  expect(feed.windowMs).toBe(120_000);
  await clock.advance(10_000);
  const after = prometheus.asked.slice(before).map(({ expression }) => expression);
  expect(after.filter((expression) => expression.includes('[20s]'))).toEqual([]);
  // Its scrape interval is not known, so its samples are counted.
  expect(after.some((expression) => expression.includes('count_over_time'))).toBe(true);
  expect(after.some((expression) => expression.includes('[120s]'))).toBe(true);
  expect(feed.passes[0]).toMatchObject({ pass: 3, ok: true });
  stop.abort();
});
