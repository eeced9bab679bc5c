import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakePrometheus } from '../../prometheus/testing/fakePrometheus.ts';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { distinctReadings, NO_READINGS, readingKey, type Readings } from '../evaluate/reading.ts';
import { createUsageFeed, type UsageFeed } from './feed.ts';

let clock: FakeClock;
const SETTINGS = { windowSeconds: 20, scrapeIntervalSeconds: 5, matchers: [] };
let prometheus: FakePrometheus;
let feed: UsageFeed;
/** The demand. The default reading, and the others without a number of their own, have `passes`. */
let demand: { passes: number; readings: Readings; of: Record<string, number>; passesOf: (key: string) => number };
let lines: string[];
const stop = { signal: new AbortController() };

beforeEach(() => {
  clock = new FakeClock();
  prometheus = new FakePrometheus();
  prometheus.devices = [{ node: 'a', instance: 'a:9100', device: 'eth0', rate: '5', total: '70', speed: '100' }];
  lines = [];
  stop.signal = new AbortController();
  feed = createUsageFeed({
    endpoint: { url: 'http://prometheus:9090' },
    query: () => SETTINGS,
    intervalMs: 10_000,
    nodes: () => new Map([['a', {}]]),
    clock,
    logger: createLogger('info', { write: (line) => void lines.push(line) }),
    client: prometheus,
  });
  demand = { passes: 0, readings: NO_READINGS, of: {}, passesOf: (key) => demand.of[key] ?? demand.passes };
  feed.follow(demand);
});
afterEach(() => stop.signal.abort());

const run = (): void => void feed.run(stop.signal.signal);
/** Passes, and what is read after them, yield to others: on a busy machine more often. */
const idle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};
/** Advances the clock pass by pass, so that each ends before the next one. */
async function advance(ms: number): Promise<void> {
  await clock.advance(0);
  await idle();
  for (let left = ms; left > 0; left -= 10_000) {
    await clock.advance(Math.min(left, 10_000));
    await idle();
  }
}
/** The offsets of the queries for rates. */
const offsets = (): string[] =>
  prometheus.asked
    .filter(({ kind }) => kind === 'rates' || kind === 'received')
    .flatMap(({ expression }) => /offset \w+/.exec(expression)?.[0] ?? []);
const percents = (): (number | undefined)[] => feed.passes.map(({ nodes }) => nodes.get('a')?.percent);

describe('passes of the past', () => {
  it('are not read unless a verdict compares more than two', async () => {
    run();
    await advance(10_000);
    expect([offsets(), feed.passes.length]).toEqual([[], 2]);
  });

  it('are read after the pass, one query each, an interval apart, and come before it with the next one', async () => {
    demand.passes = 4;
    prometheus.before = ({ expression }) => {
      const [, ms = '0'] = /offset (\d+)ms/.exec(expression) ?? [];
      prometheus.devices = prometheus.devices.map((device) => ({ ...device, rate: String(5 + Number(ms) / 10_000) }));
    };
    run();
    await advance(0);
    expect([offsets(), percents()]).toEqual([['offset 10000ms', 'offset 20000ms'], [5]]);
    await advance(10_000);
    expect([offsets().length, percents()]).toEqual([2, [5, 5, 6, 7]]);
    expect(feed.passes.map((each) => [each.pass, each.startedAt - clock.now()])).toEqual([
      [2, 0],
      [1, -10_000],
      [0, -20_000],
      [-1, -30_000],
    ]);
    expect(feed.passes[2]?.timeSeconds).toBe(prometheus.timeSeconds - 10);
  });

  it('are read three at a time, so that a change floods no Prometheus', async () => {
    demand.passes = 30;
    run();
    await advance(0);
    const asked = [offsets().length];
    await advance(10_000);
    asked.push(offsets().length);
    await advance(70_000);
    expect([asked, feed.passes.length]).toEqual([[3, 6], 30]);
    const all = offsets().length;
    await advance(10_000);
    expect([offsets().length, feed.passes.length]).toEqual([all, 30]);
  });

  it('keep no pass waiting that is under way, or comes next, while Prometheus does not answer', async () => {
    demand.passes = 5;
    prometheus.before = ({ expression }) =>
      expression.includes('offset') ? new Promise<void>(() => undefined) : undefined;
    run();
    await advance(0);
    expect(feed.passes).toHaveLength(1);
    await advance(20_000);
    expect(feed.passes.map(({ pass, ok }) => [pass, ok])).toEqual([
      [3, true],
      [2, true],
      [1, true],
    ]);
    expect(offsets()).toHaveLength(1);
    expect(lines.filter((line) => line.includes('earlier passes cannot be read'))).toHaveLength(1);
  });

  it('are read once; later passes push them out', async () => {
    demand.passes = 3;
    run();
    await advance(30_000);
    expect(offsets()).toHaveLength(1);
    expect(feed.passes.map(({ pass }) => pass)).toEqual([4, 3, 2]);
  });

  it('are read behind those that are kept when a verdict compares more than before', async () => {
    run();
    await advance(10_000);
    demand.passes = 5;
    await advance(10_000);
    expect(offsets()).toEqual(['offset 30000ms']);
    await advance(10_000);
    expect(feed.passes.map(({ pass }) => pass)).toEqual([4, 3, 2, 1, 0]);
  });

  it('are fewer where Prometheus fails on them, and the passes succeed', async () => {
    demand.passes = 4;
    prometheus.before = ({ expression }) => {
      if (expression.includes('offset 20000ms')) throw new PrometheusError('TooLarge', 'too many samples');
    };
    run();
    await advance(10_000);
    expect(feed.passes.map(({ pass, ok }) => [pass, ok])).toEqual([
      [2, true],
      [1, true],
      [0, true],
    ]);
    expect(lines.some((line) => line.includes('earlier passes cannot be read'))).toBe(true);
  });

  it('are read again a minute after a failure', async () => {
    demand.passes = 3;
    let fails = true;
    prometheus.before = ({ expression }) => {
      if (fails && expression.includes('offset')) throw new PrometheusError('Unreachable', 'connection refused');
    };
    run();
    await advance(0);
    demand.passes = 10;
    fails = false;
    await advance(50_000);
    expect(offsets()).toHaveLength(1);
    await advance(20_000);
    expect(feed.passes).toHaveLength(10);
  });

  it('are read again when more are asked for again', async () => {
    demand.passes = 4;
    run();
    await advance(10_000);
    demand.passes = 0;
    await advance(10_000);
    demand.passes = 5;
    await advance(20_000);
    expect(feed.passes.map(({ startedAt }) => (clock.now() - startedAt) / 1000)).toEqual([0, 10, 20, 30, 40]);
  });

  it('are no more than are asked for once it is fewer again', async () => {
    demand.passes = 4;
    run();
    await advance(10_000);
    expect(feed.passes).toHaveLength(4);
    demand.passes = 0;
    await advance(10_000);
    expect(feed.passes).toHaveLength(2);
  });
});

describe('the readings of passes', () => {
  const key = readingKey({ direction: 'Receive' });
  const received = (): (number | undefined)[] =>
    feed.passes.map(({ readings }) => readings?.get(key)?.nodes.get('a')?.percent);
  beforeEach(() => {
    prometheus.devices = prometheus.devices.map((device) => ({ ...device, received: '70' }));
  });

  it('are those that are asked for when a pass begins, without queries about the past', async () => {
    run();
    await advance(0);
    demand.readings = distinctReadings([{ direction: 'Receive' }, { direction: 'Transmit' }]);
    await advance(10_000);
    expect([received(), offsets()]).toEqual([[70, undefined], []]);
    demand.readings = distinctReadings([]);
    await advance(10_000);
    expect(received()).toEqual([undefined, 70]);
  });

  it('of the past are read too when a verdict compares more passes', async () => {
    demand.passes = 3;
    demand.readings = distinctReadings([{ direction: 'Receive' }]);
    run();
    await advance(10_000);
    expect([received(), percents()]).toEqual([
      [70, 70, 70],
      [5, 5, 5],
    ]);
  });

  it('are kept in as many passes as each is needed for, and two', async () => {
    const other = readingKey({ direction: 'Max' });
    demand.readings = distinctReadings([{ direction: 'Receive' }, { direction: 'Max' }]);
    demand.of = { [key]: 4, [other]: 2 };
    run();
    await advance(50_000);
    expect(feed.passes.map(({ readings }) => [...(readings?.keys() ?? [])])).toEqual([
      [key, other],
      [key, other],
      [key],
      [key],
    ]);
  });

  it('that kept passes lack are read from Prometheus when they are asked for', async () => {
    demand.passes = 4;
    run();
    await advance(20_000);
    const [before] = feed.passes;
    demand.readings = distinctReadings([{ direction: 'Receive' }]);
    await advance(20_000);
    expect(received()).toEqual([70, 70, 70, 70]);
    expect(percents()).toEqual([5, 5, 5, 5]);
    expect(before).not.toHaveProperty('readings');
    const asked = offsets().length;
    await advance(10_000);
    expect(offsets()).toHaveLength(asked);
  });

  it('of the past are read again a minute after only their rates failed; the others are kept', async () => {
    demand.passes = 4;
    demand.readings = distinctReadings([{ direction: 'Receive' }]);
    let fails = true;
    prometheus.before = ({ expression }, kind) => {
      if (fails && kind === 'received' && expression.includes('offset')) throw new PrometheusError('Deadline', 'slow');
    };
    run();
    await advance(10_000);
    expect([received(), percents()]).toEqual([
      [70, 70, undefined],
      [5, 5, 5],
    ]);
    expect(lines.some((line) => line.includes('the receive rates: slow'))).toBe(true);
    fails = false;
    demand.passes = 12;
    await advance(40_000);
    expect(offsets()).toHaveLength(2);
    await advance(40_000);
    expect(received()).toEqual(Array.from({ length: 12 }, () => 70));
  });
});
