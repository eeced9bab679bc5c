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
let demand: { passes: number; readings: Readings };
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
  demand = { passes: 0, readings: NO_READINGS };
  feed.follow(demand);
});
afterEach(() => stop.signal.abort());

const run = (): void => void feed.run(stop.signal.signal);
/** The offsets of the queries for rates. */
const offsets = (): string[] =>
  prometheus.asked
    .filter(({ kind }) => kind === 'rates' || kind === 'received')
    .flatMap(({ expression }) => /offset \w+/.exec(expression)?.[0] ?? []);
const percents = (): (number | undefined)[] => feed.passes.map(({ nodes }) => nodes.get('a')?.percent);

describe('passes of the past', () => {
  it('are not read unless a verdict compares more than two', async () => {
    run();
    await clock.advance(10_000);
    expect([offsets(), feed.passes.length]).toEqual([[], 2]);
  });

  it('are read with the first pass, one query each, an interval apart, and come before it', async () => {
    demand.passes = 4;
    prometheus.before = ({ expression }) => {
      const [, ms = '0'] = /offset (\d+)ms/.exec(expression) ?? [];
      prometheus.devices = prometheus.devices.map((device) => ({ ...device, rate: String(5 + Number(ms) / 10_000) }));
    };
    run();
    await clock.advance(0);
    expect(offsets()).toEqual(['offset 10000ms', 'offset 20000ms', 'offset 30000ms']);
    expect(percents()).toEqual([5, 6, 7, 8]);
    const [newest, ...past] = feed.passes;
    expect([newest, ...past].map((each) => [each?.pass, (each?.startedAt ?? 0) - clock.now()])).toEqual([
      [1, 0],
      [0, -10_000],
      [-1, -20_000],
      [-2, -30_000],
    ]);
    expect(past[0]?.timeSeconds).toBe(prometheus.timeSeconds - 10);
  });

  it('are read once; later passes push them out', async () => {
    demand.passes = 3;
    run();
    await clock.advance(30_000);
    expect(offsets()).toHaveLength(2);
    expect(feed.passes.map(({ pass }) => pass)).toEqual([4, 3, 2]);
  });

  it('are read behind those that are kept when a verdict compares more than before', async () => {
    run();
    await clock.advance(10_000);
    demand.passes = 5;
    await clock.advance(10_000);
    expect(offsets()).toEqual(['offset 30000ms', 'offset 40000ms']);
    expect(feed.passes.map(({ pass }) => pass)).toEqual([3, 2, 1, 0, -1]);
  });

  it('are fewer where Prometheus fails on them, and the pass itself succeeds', async () => {
    demand.passes = 4;
    prometheus.before = ({ expression }) => {
      if (expression.includes('offset 20000ms')) throw new PrometheusError('TooLarge', 'too many samples');
    };
    run();
    await clock.advance(0);
    expect(feed.passes.map(({ pass, ok }) => [pass, ok])).toEqual([
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
    await clock.advance(0);
    demand.passes = 20;
    fails = false;
    await clock.advance(50_000);
    expect(offsets()).toHaveLength(1);
    await clock.advance(10_000);
    expect(feed.passes).toHaveLength(20);
  });

  it('are read again when more are asked for again', async () => {
    demand.passes = 4;
    run();
    await clock.advance(0);
    demand.passes = 0;
    await clock.advance(20_000);
    demand.passes = 5;
    await clock.advance(10_000);
    expect(feed.passes.map(({ startedAt }) => (clock.now() - startedAt) / 1000)).toEqual([0, 10, 20, 30, 40]);
  });

  it('are no more than are asked for once it is fewer again', async () => {
    demand.passes = 4;
    run();
    await clock.advance(0);
    demand.passes = 0;
    await clock.advance(10_000);
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
    await clock.advance(0);
    demand.readings = distinctReadings([{ direction: 'Receive' }, { direction: 'Transmit' }]);
    await clock.advance(10_000);
    expect([received(), offsets()]).toEqual([[70, undefined], []]);
    demand.readings = distinctReadings([]);
    await clock.advance(10_000);
    expect(received()).toEqual([undefined, 70]);
  });

  it('of the past are read too when a verdict compares more passes', async () => {
    demand.passes = 3;
    demand.readings = distinctReadings([{ direction: 'Receive' }]);
    run();
    await clock.advance(0);
    expect([received(), percents()]).toEqual([
      [70, 70, 70],
      [5, 5, 5],
    ]);
  });

  it('that kept passes lack are read from Prometheus when they are asked for', async () => {
    demand.passes = 3;
    run();
    await clock.advance(0);
    const [before] = feed.passes;
    demand.readings = distinctReadings([{ direction: 'Receive' }]);
    await clock.advance(10_000);
    expect(received()).toEqual([70, 70, 70]);
    expect(percents()).toEqual([5, 5, 5]);
    expect(before).not.toHaveProperty('readings');
    const asked = offsets().length;
    await clock.advance(10_000);
    expect(offsets()).toHaveLength(asked);
  });

  /** Each query for receive rates of the past fails. */
  const failReceived = (): (() => void) => {
    let fails = true;
    prometheus.before = ({ expression }, kind) => {
      if (fails && kind === 'received' && expression.includes('offset')) throw new PrometheusError('Deadline', 'slow');
    };
    return () => (fails = false);
  };

  it('of the past are read again a minute after only their rates failed; the others are kept', async () => {
    demand.passes = 4;
    demand.readings = distinctReadings([{ direction: 'Receive' }]);
    const works = failReceived();
    run();
    await clock.advance(0);
    expect([received(), percents()]).toEqual([
      [70, undefined],
      [5, 5],
    ]);
    expect(lines.some((line) => line.includes('the receive rates: slow'))).toBe(true);
    works();
    await clock.advance(50_000);
    expect(offsets()).toHaveLength(2);
    demand.passes = 9;
    await clock.advance(10_000);
    expect(received()).toEqual(Array.from({ length: 9 }, () => 70));
  });

  it('that kept passes lack are read again, too', async () => {
    demand.passes = 3;
    run();
    await clock.advance(20_000);
    const works = failReceived();
    demand.passes = 9;
    demand.readings = distinctReadings([{ direction: 'Receive' }]);
    await clock.advance(10_000);
    works();
    await clock.advance(60_000);
    expect(received()).toEqual(Array.from({ length: 9 }, () => 70));
  });
});
