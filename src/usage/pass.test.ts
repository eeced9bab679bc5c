import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../runtime/clock.ts';
import type { KnownNode } from './nodeNames.ts';
import { Passes } from './pass.ts';
import type { Finding } from './pass.ts';
import type { Question } from './prometheusClient.ts';
import { PrometheusError } from './prometheusError.ts';
import type { UsageQuery } from './queries.ts';
import { Questions } from './questions.ts';
import { windowIsTooShort } from './snapshot.ts';
import { FakePrometheus } from './testing/fakePrometheus.ts';
import type { FakeDevice } from './testing/fakePrometheus.ts';

const PATIENCE = { signal: new AbortController().signal, timeoutMs: 8_000 };
const QUERY = { windowSeconds: 20, scrapeIntervalSeconds: 5, matchers: [], direction: 'transmit' } as const;
let clock: FakeClock;
let prometheus: FakePrometheus;
let passes: Passes;

beforeEach(() => {
  clock = new FakeClock();
  prometheus = new FakePrometheus();
  passes = passesOf(QUERY);
});

function passesOf(query: UsageQuery): Passes {
  const questions = new Questions({ client: prometheus, query, clock });
  return new Passes({ questions, query, clock, background: (work) => work(PATIENCE) });
}

async function next(nodes: Record<string, KnownNode>): Promise<Finding> {
  const finding = await passes.next(new Map(Object.entries(nodes)), clock.now(), PATIENCE);
  await passes.settled();
  return finding;
}

function device(node: string, name: string, more: Partial<FakeDevice> = {}): FakeDevice {
  return { node, instance: `${node}:9100`, device: name, rate: '5', total: '70', speed: '100', ...more };
}

describe('the uplinks of nodes without other devices', () => {
  it('are looked for among their veths, and the only one counts', async () => {
    prometheus.devices = [device('a', 'eth0'), device('b', 'veth17')];
    const { nodes } = await next({ a: {}, b: {} });
    expect(nodes.get('b')).toMatchObject({ reason: 'Measured', percent: 5, devices: ['veth17'] });
    const [question] = prometheus.asked.filter(({ kind }) => kind === 'uplinks');
    expect(question?.expression).toContain('node=~"b"');
    expect(prometheus.asked.filter(({ kind }) => kind === 'rates').at(-1)?.expression).toContain('device=~"veth17"');
  });

  it('are found by the addresses of a node whose series carry none but the instance', async () => {
    prometheus.devices = [device('', 'veth17', { instance: '[fd00::2]:9100' })];
    const { nodes } = await next({ b: { addresses: ['fd00::2'] } });
    expect(nodes.get('b')).toMatchObject({ reason: 'Measured', devices: ['veth17'] });
  });

  it('are ambiguous where there are several, also beside nodes with one', async () => {
    prometheus.devices = [device('a', 'veth1'), device('b', 'veth2'), device('b', 'veth3')];
    const { nodes } = await next({ a: {}, b: {} });
    expect(nodes.get('a')).toMatchObject({ reason: 'Measured' });
    expect(nodes.get('b')).toMatchObject({ reason: 'AmbiguousUplink', devices: [] });
  });

  it('are not looked for while each node has a device that counts', async () => {
    prometheus.devices = [device('a', 'eth0'), device('a', 'veth1')];
    await next({ a: {} });
    expect(prometheus.count('uplinks')).toBe(0);
  });

  it('leave the node without series where there is no veth either', async () => {
    const { nodes, infos } = await next({ a: {} });
    expect(nodes.get('a')).toMatchObject({ reason: 'NoSeries' });
    expect(infos).toEqual([]);
  });

  it('take nothing from other nodes when the search fails', async () => {
    prometheus.devices = [device('a', 'eth0')];
    prometheus.before = (_question, kind) => {
      if (kind === 'uplinks') throw new PrometheusError('BadStatus', 'Prometheus answers HTTP 405');
    };
    const { ok, nodes, infos } = await next({ a: {}, b: {} });
    expect([ok, nodes.get('a')?.reason, nodes.get('b')?.reason]).toEqual([true, 'Measured', 'NoSeries']);
    expect(infos).toEqual(['looking for veth uplinks: Prometheus answers HTTP 405']);
  });
});

describe('facts of very many devices', () => {
  beforeEach(() => {
    prometheus.devices = [device('a', 'eth0'), ...Array.from({ length: 10_000 }, (_, n) => device('other', `eth${n}`))];
  });

  it('are not read in each pass but beside it, twice a minute', async () => {
    for (let n = 0; n < 7; n++) {
      expect((await next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
      await clock.advance(10_000);
    }
    expect([prometheus.count('rates'), prometheus.count('facts')]).toEqual([7, 3]);
  });

  it('are taken into account when they have changed', async () => {
    await next({ a: {} });
    prometheus.devices[0] = device('a', 'eth0', { speed: '50' });
    await clock.advance(30_000);
    expect((await next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
    expect((await next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 10 });
  });

  it('may fail for a while, but not for longer than Prometheus itself trusts a sample', async () => {
    await next({ a: {} });
    prometheus.before = (_question: Question, kind) => {
      if (kind === 'facts') throw new PrometheusError('TooLarge', 'no');
    };
    await clock.advance(299_000);
    expect(await next({ a: {} })).toMatchObject({ ok: true });
    await clock.advance(1_000);
    await expect(next({ a: {} })).rejects.toMatchObject({ reason: 'TooLarge' });
  });
});

describe('facts of few devices', () => {
  it('are as old as the pass', async () => {
    prometheus.devices = [device('a', 'eth0')];
    await next({ a: {} });
    prometheus.devices = [device('a', 'eth0', { speed: '50' })];
    expect((await next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 10 });
  });
});

describe('a capacity that fell', () => {
  beforeEach(() => {
    prometheus.devices = [device('a', 'bond0', { peak: '200' }), device('b', 'eth0')];
  });

  it('is told of the node that lost it, once it was asked for beside a pass', async () => {
    expect((await next({ a: {}, b: {} })).nodes.get('a')).not.toHaveProperty('fall');
    const { nodes } = await next({ a: {}, b: {} });
    const fall = { fromBytesPerSecond: 200, devices: ['bond0'] };
    expect(nodes.get('a')).toMatchObject({ percent: 5, capacityBytesPerSecond: 100, fall });
    expect(nodes.get('b')).not.toHaveProperty('fall');
  });

  it('is told no more as soon as it is back, nor where a person has said what it is', async () => {
    await next({ a: {} });
    expect((await next({ a: { capacity: '1kbit' } })).nodes.get('a')).not.toHaveProperty('fall');
    prometheus.devices = [device('a', 'bond0', { speed: '200', peak: '200' })];
    expect((await next({ a: {} })).nodes.get('a')).not.toHaveProperty('fall');
  });

  it('is asked for twice a minute and no more often when there is no answer, which takes nothing from the pass', async () => {
    prometheus.before = (_question, kind) => {
      if (kind === 'fallen') throw new PrometheusError('QueryFailed', 'too many samples');
    };
    for (let pass = 0; pass < 7; pass++) {
      expect((await next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
      await clock.advance(10_000);
    }
    expect(prometheus.count('fallen')).toBe(3);
  });

  it('is asked for at once when a pass finds less than the one before', async () => {
    prometheus.devices = [device('a', 'bond0', { speed: '200' })];
    await next({ a: {} });
    prometheus.devices = [device('a', 'bond0', { speed: '100', peak: '200' })];
    await next({ a: {} });
    expect(prometheus.count('fallen')).toBe(2);
    expect((await next({ a: {} })).nodes.get('a')).toHaveProperty('fall');
    expect(prometheus.count('fallen')).toBe(2);
  });

  it('is forgotten when nobody has heard of it for an hour', async () => {
    await next({ a: {} });
    prometheus.before = (_question, kind) => {
      if (kind === 'fallen') throw new PrometheusError('Deadline', 'no');
    };
    await clock.advance(3_599_000);
    expect((await next({ a: {} })).nodes.get('a')).toHaveProperty('fall');
    await clock.advance(1_000);
    expect((await next({ a: {} })).nodes.get('a')).not.toHaveProperty('fall');
  });
});

describe('time', () => {
  it("is the server's, however wrong our own is", async () => {
    prometheus.devices = [device('a', 'eth0')];
    expect(await next({ a: {} })).toMatchObject({ timeSeconds: prometheus.timeSeconds });
  });

  it('is our own where no sample tells the server’s', async () => {
    const { nodes, timeSeconds } = await next({ a: {} });
    expect(timeSeconds).toBeUndefined();
    expect(nodes.get('a')?.timeSeconds).toBe(clock.now() / 1000);
  });
});

describe('the scrapes that the window holds', () => {
  const UNKNOWN_INTERVAL: UsageQuery = { windowSeconds: 120, matchers: [], direction: 'transmit' };

  it('follow from the scrape interval where it is known', async () => {
    const finding = await next({ a: {} });
    expect(finding.samplesPerWindow).toBe(4);
    expect(windowIsTooShort(finding)).toBe(false);
    expect(prometheus.count('samples')).toBe(0);
  });

  it('are counted once a minute where it is not', async () => {
    passes = passesOf(UNKNOWN_INTERVAL);
    prometheus.samplesPerWindow = '8';
    await next({ a: {} });
    await clock.advance(59_999);
    const finding = await next({ a: {} });
    expect(finding.samplesPerWindow).toBe(8);
    expect(prometheus.count('samples')).toBe(1);
    await clock.advance(1);
    await next({ a: {} });
    expect(prometheus.count('samples')).toBe(2);
  });

  it('are too few when they have been for as long as the window is', async () => {
    passes = passesOf(UNKNOWN_INTERVAL);
    prometheus.samplesPerWindow = '2';
    for (let seconds = 0; seconds < 120; seconds += 10) {
      expect(await next({ a: {} })).not.toHaveProperty('samplesPerWindow');
      await clock.advance(10_000);
    }
    await next({ a: {} });
    const finding = await next({ a: {} });
    expect(finding.samplesPerWindow).toBe(2);
    expect(windowIsTooShort(finding)).toBe(true);
  });

  it('are those from before while the window fills up again behind a restart of the server', async () => {
    passes = passesOf(UNKNOWN_INTERVAL);
    const count = async (samples: string): Promise<number | undefined> => {
      prometheus.samplesPerWindow = samples;
      await next({ a: {} });
      await clock.advance(60_000);
      return (await next({ a: {} })).samplesPerWindow;
    };
    expect(await count('8')).toBe(8);
    expect(await count('1')).toBe(8);
    expect(await count('3')).toBe(8);
    expect(await count('8')).toBe(8);
    expect(windowIsTooShort(await next({ a: {} }))).toBe(false);
  });

  it('are not known, and not too few, while there is nothing to count or no answer', async () => {
    passes = passesOf(UNKNOWN_INTERVAL);
    prometheus.samplesPerWindow = undefined;
    await next({ a: {} });
    prometheus.before = (_question, kind) => {
      if (kind === 'samples') throw new PrometheusError('Deadline', 'no');
    };
    await clock.advance(60_000);
    const finding = await next({ a: {} });
    expect(finding).not.toHaveProperty('samplesPerWindow');
    expect(windowIsTooShort(finding)).toBe(false);
    expect(prometheus.count('samples')).toBe(2);
  });
});
