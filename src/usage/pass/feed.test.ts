import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../runtime/process/clock.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { createUsageFeed } from './feed.ts';
import type { UsageFeed, UsageFeedOptions } from './feed.ts';
import type { KnownNode } from '../../nodes/nodeNames.ts';
import { annotated } from '../../nodes/statedCapacity.ts';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import type { Snapshot } from '../evaluate/snapshot.ts';
import { FakePrometheus } from '../../prometheus/testing/fakePrometheus.ts';
import type { FakeDevice } from '../../prometheus/testing/fakePrometheus.ts';

const ETH0: FakeDevice = { node: 'a', instance: '10.0.0.1:9100', device: 'eth0', rate: '5', total: '70', speed: '100' };
let clock: FakeClock;
let prometheus: FakePrometheus;
let stop: AbortController;
let lines: Record<string, unknown>[];

beforeEach(() => {
  clock = new FakeClock();
  prometheus = new FakePrometheus();
  prometheus.devices = [ETH0];
  stop = new AbortController();
  lines = [];
});
afterEach(() => stop.abort());

const SETTINGS = { windowSeconds: 20, scrapeIntervalSeconds: 5, matchers: [] };
const NODES = new Map([['a', {}]]);

function feedOf(options: Partial<UsageFeedOptions> = {}): UsageFeed {
  return createUsageFeed({
    endpoint: { url: 'http://prometheus:9090' },
    query: () => SETTINGS,
    intervalMs: 10_000,
    nodes: () => NODES,
    clock,
    logger: createLogger('info', { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) }),
    client: prometheus,
    ...options,
  });
}

/** Runs a feed until the test ends. */
function run(options: Partial<UsageFeedOptions> = {}): { feed: UsageFeed; seen: Snapshot[]; ended: Promise<void> } {
  const feed = feedOf(options);
  const seen: Snapshot[] = [];
  feed.snapshots.subscribe((snapshot) => seen.push(snapshot));
  return { feed, seen, ended: feed.run(stop.signal) };
}

describe('a pass', () => {
  it('reports each known node, with or without data', async () => {
    const nodes = new Map<string, KnownNode>([
      ['a', { capacity: annotated('800bit') }],
      ['b', {}],
    ]);
    const { feed } = run({ nodes: () => nodes });
    await clock.advance(0);
    expect(feed.passes[0]).toMatchObject({ pass: 1, ok: true, startedAt: clock.now(), timeSeconds: 1_700_000_000 });
    expect([...(feed.passes[0]?.nodes ?? [])]).toMatchObject([
      ['a', { percent: 5, reason: 'Measured', timeSeconds: 1_700_000_000 }],
      ['b', { reason: 'NoSeries' }],
    ]);
    expect(feed.passes[0]?.nodes.get('b')?.percent).toBeUndefined();
  });

  it('starts at once and then at each interval, with increasing numbers', async () => {
    const { seen, feed } = run();
    await clock.advance(25_000);
    expect(seen.map(({ pass, startedAt }) => [pass, startedAt - feed.startedAt])).toEqual([
      [1, 0],
      [2, 10_000],
      [3, 20_000],
    ]);
    expect(feed.passes.map(({ pass }) => pass)).toEqual([3, 2]);
  });

  it('is in `passes` before subscribers are notified', async () => {
    const feed = feedOf();
    const current: unknown[] = [];
    feed.snapshots.subscribe((snapshot) => current.push(feed.passes[0] === snapshot));
    void feed.run(stop.signal);
    await clock.advance(0);
    expect(current).toEqual([true]);
  });

  it('sends each query once, regardless of the number of subscribers', async () => {
    const { feed } = run();
    for (let n = 0; n < 50; n++) feed.snapshots.subscribe();
    await clock.advance(10_000);
    expect([prometheus.count('rates'), prometheus.count('facts')]).toEqual([2, 2]);
  });

  it('is slow from three quarters of its deadline on, until one takes less than half of it', async () => {
    let tookMs = 0;
    prometheus.before = (_question, kind) => (kind === 'rates' ? clock.sleep(tookMs) : undefined);
    const { feed } = run();
    await clock.advance(8_000);
    const warnings = (): unknown[] => lines.filter(({ msg }) => msg === 'passes take most of their deadline');
    for (const [ms, isSlow] of [
      [0, undefined],
      [5_999, undefined],
      [6_000, true],
      [7_999, true],
      [4_000, true],
      [3_999, undefined],
      [4_000, undefined],
    ] as const) {
      tookMs = ms;
      await clock.advance(2_000);
      await clock.advance(8_000);
      expect([feed.passes[0]?.ok, feed.passes[0]?.isSlow]).toEqual([true, isSlow]);
    }
    expect(warnings()).toHaveLength(1);
  });

  it('skips ticks while it is running: passes never overlap', async () => {
    let running = 0;
    let most = 0;
    prometheus.before = async (_question, kind) => {
      if (kind === 'fallen' || kind === 'lag') return; // sent in the background
      most = Math.max(most, ++running);
      await clock.sleep(25_000);
      running--;
    };
    const { seen, feed } = run({ deadlineMs: 60_000 });
    await clock.advance(60_000);
    expect(seen.map(({ pass, startedAt }) => [pass, startedAt - feed.startedAt])).toEqual([
      [1, 0],
      [2, 30_000],
    ]);
    expect(most).toBe(8); // the queries of one pass: rates, late, and one for each of six facts
  });

  it('reports a warning once, even if several answers have it', async () => {
    prometheus.warnings = ['store-2 did not answer'];
    const { feed } = run();
    await clock.advance(0);
    expect(feed.passes[0]).toMatchObject({ ok: true, warnings: ['store-2 did not answer'] });
  });

  it('counts and names the series that belong to no node', async () => {
    prometheus.devices.push(
      { ...ETH0, node: 'gone' },
      { instance: '10.0.0.9:9100', device: 'eth0', rate: '1', total: '1' },
    );
    const { feed } = run();
    await clock.advance(20_000);
    expect(feed.passes[0]).toMatchObject({ pass: 3, unmatchedSeries: 2, ambiguousSeries: 0 });
    expect(feed.passes[0]?.unmatchedExamples).toContain('{instance="10.0.0.9:9100"}');
    const logged = lines.filter(({ msg }) => msg === 'some series do not belong to exactly one node');
    expect(logged).toHaveLength(1); // when they appear, not with every pass
    expect(JSON.stringify(logged[0]?.found)).toContain('series that belong to no node: 2, such as');
  });
});

describe('a pass that fails', () => {
  it('reports the error and no nodes, and the next pass runs', async () => {
    prometheus.before = () => {
      throw new PrometheusError('Unreachable', 'nobody there');
    };
    const { feed } = run();
    await clock.advance(0);
    expect(feed.passes[0]).toMatchObject({
      pass: 1,
      ok: false,
      error: { reason: 'Unreachable', message: 'nobody there' },
    });
    expect(feed.passes[0]?.nodes.size).toBe(0);
    prometheus.before = () => undefined;
    await clock.advance(10_000);
    expect(feed.passes[0]).toMatchObject({ pass: 2, ok: true });
    expect(feed.passes[1]).toMatchObject({ pass: 1, ok: false });
  });

  it('ends before the next tick, even if the server hangs and the client ignores the deadline', async () => {
    prometheus.before = () => new Promise(() => undefined);
    const { seen } = run();
    await clock.advance(8_000);
    expect(seen).toMatchObject([
      { ok: false, error: { reason: 'Deadline', message: 'no complete answer within 8 s' } },
    ]);
    await clock.advance(10_000);
    expect(seen).toHaveLength(2);
  });

  it('fails if the facts are missing: rates alone would count a bond twice', async () => {
    prometheus.before = (_question, kind) => {
      if (kind === 'facts') throw new PrometheusError('TooLarge', 'no');
    };
    const { feed } = run();
    await clock.advance(0);
    expect(feed.passes[0]).toMatchObject({ ok: false, error: { reason: 'TooLarge' } });
  });

  it('fails if the list of nodes cannot be read, and the feed continues', async () => {
    let calls = 0;
    const { seen } = run({
      nodes: () => {
        if (++calls === 1) throw new Error('cache of hunter2');
        return new Map([['a', {}]]);
      },
    });
    await clock.advance(10_000);
    expect(seen).toMatchObject([{ ok: false, error: { reason: 'Internal' } }, { ok: true }]);
    expect(seen[0]?.error?.message).not.toContain('hunter2');
  });

  it('is logged on transitions only', async () => {
    prometheus.before = () => {
      throw new PrometheusError('Unreachable', 'nobody there');
    };
    run();
    await clock.advance(30_000);
    prometheus.before = () => undefined;
    await clock.advance(20_000);
    expect(lines.map(({ level, reason }) => [level, reason])).toEqual([
      ['warn', 'Unreachable'],
      ['info', undefined],
    ]);
  });

  it('does not delay another feed', async () => {
    const slow = new FakePrometheus();
    slow.before = () => new Promise(() => undefined);
    const waiting = run({ client: slow });
    const { seen } = run();
    await clock.advance(5_000);
    expect([waiting.seen.length, seen.length]).toEqual([0, 1]);
  });
});

describe('the end of a feed', () => {
  it('comes with the abort signal: no snapshots, queries or timers follow', async () => {
    const { feed, seen, ended } = run();
    let completed = false;
    feed.snapshots.subscribe({ complete: () => (completed = true) });
    await clock.advance(0);
    prometheus.before = () => new Promise(() => undefined);
    await clock.advance(10_000);
    stop.abort();
    await ended;
    await clock.advance(60_000);
    expect([seen.length, completed, prometheus.closed, clock.pending]).toEqual([1, true, true, 0]);
    expect(prometheus.count('rates')).toBe(2);
  });

  it('comes at once if the signal is already aborted', async () => {
    stop.abort();
    await feedOf().run(stop.signal);
    expect(prometheus.asked).toEqual([]);
  });
});

describe('metrics', () => {
  it('show the outcome and the duration of queries and passes', async () => {
    const told: unknown[] = [];
    prometheus.before = async ({ expression }) => {
      await clock.sleep(2_000);
      if (expression.includes('ethtool')) throw new PrometheusError('QueryFailed', 'no');
    };
    run({
      metrics: {
        queryEnded: (...query) => told.push(query),
        passEnded: ({ pass, ok }, seconds) => told.push([pass, ok, seconds]),
      },
    });
    await clock.advance(2_000);
    expect(told).toContainEqual(['rates', 'ok', 2]);
    expect(told).toContainEqual(['facts', 'QueryFailed', 2]);
    expect(told.filter((each) => Array.isArray(each) && each[0] === 'facts')).toHaveLength(6);
    expect(told).toContainEqual([1, false, 2]);
  });

  it('do not stop the feed if they throw', async () => {
    const fail = () => {
      throw new Error('registry');
    };
    const { seen } = run({ metrics: { queryEnded: () => undefined, passEnded: fail } });
    await clock.advance(10_000);
    expect(seen).toHaveLength(2);
  });
});

describe('createUsageFeed', () => {
  it('rejects an invalid query', () => {
    const query = { windowSeconds: 0, matchers: [] };
    expect(() => feedOf({ query: () => query })).toThrow(
      'the rate window is 0 s: it must be a whole number of seconds',
    );
  });
});
