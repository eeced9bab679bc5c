import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../runtime/process/clock.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { createUsageFeed } from './feed.ts';
import type { UsageFeed } from './feed.ts';
import { FakePrometheus } from '../../prometheus/testing/fakePrometheus.ts';
import { device, QUERY } from './testing/passScene.ts';

const MANY = 1_001;
/** Longer than the deadline of a pass, 8 s. */
const SLOW_MS = 20_000;

let clock: FakeClock;
let prometheus: FakePrometheus;
let stop: AbortController;

beforeEach(() => {
  clock = new FakeClock();
  prometheus = new FakePrometheus();
  stop = new AbortController();
});
afterEach(() => stop.abort());

/** Runs a feed over `count` nodes of one device each, until the test ends. */
function run(count: number): UsageFeed {
  const names = Array.from({ length: count }, (_, n) => `n${n}`);
  prometheus.devices = names.map((name) => device(name, 'eth0'));
  const nodes = new Map(names.map((name) => [name, {}]));
  const feed = createUsageFeed({
    endpoint: { url: 'http://prometheus:9090' },
    query: () => QUERY,
    intervalMs: 10_000,
    nodes: () => nodes,
    clock,
    logger: createLogger('fatal'),
    client: prometheus,
  });
  void feed.run(stop.signal);
  return feed;
}

describe('facts that take longer than the deadline of a pass', () => {
  beforeEach(() => {
    prometheus.before = (_question, kind) => (kind === 'facts' ? clock.sleep(SLOW_MS) : undefined);
  });

  it('are read completely on a large cluster: each part has a longer deadline', async () => {
    const feed = run(MANY);
    await clock.advance(8_000);
    expect(feed.passes[0]).toMatchObject({ ok: false, error: { reason: 'Deadline' } });
    // Advance by one second at a time: nodes are evaluated in turns of the real event loop.
    await vi.waitFor(
      async () => {
        await clock.advance(1_000);
        expect(feed.passes[0]).toMatchObject({ ok: true });
      },
      { timeout: 20_000, interval: 5 },
    );
    expect(feed.passes[0]?.nodes.get('n7')).toMatchObject({ percent: 5 });
    expect(prometheus.count('facts')).toBe(1);
  });

  it('are cancelled at the deadline of the pass on a small cluster: the next pass may succeed at once', async () => {
    const feed = run(3);
    await clock.advance(10_000);
    expect(feed.passes[0]).toMatchObject({ ok: false, error: { reason: 'Deadline' } });
    expect(prometheus.count('facts')).toBe(2);
  });
});

it('a part of the facts that hangs is cancelled', async () => {
  prometheus.before = (_question, kind) => (kind === 'facts' ? new Promise(() => undefined) : undefined);
  const feed = run(MANY);
  await clock.advance(60_000);
  expect(feed.passes[0]).toMatchObject({ ok: false, error: { reason: 'Deadline' } });
  // At 0, 30 and 60 s: each is cancelled after 25 s, and the next pass sends it again.
  expect(prometheus.count('facts')).toBe(3);
});

it('a slow query for speed drops is read completely on a large cluster', async () => {
  prometheus.before = (_question, kind) => (kind === 'fallen' ? clock.sleep(SLOW_MS) : undefined);
  const feed = run(MANY);
  prometheus.devices[0] = device('n0', 'eth0', { peak: '200' });
  await vi.waitFor(
    async () => {
      await clock.advance(1_000);
      expect(feed.passes[0]?.nodes.get('n0')).toHaveProperty('drop');
    },
    { timeout: 20_000, interval: 5 },
  );
  expect(prometheus.count('fallen')).toBe(1);
});
