import { beforeEach, describe, expect, it } from 'vitest';
import { annotated } from '../../nodes/statedCapacity.ts';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import type { UsageQuery } from './queries.ts';
import { windowIsTooShort } from '../evaluate/snapshot.ts';
import { device, PassScene } from './testing/passScene.ts';

let scene: PassScene;

beforeEach(() => {
  scene = new PassScene();
});

describe('the uplinks of nodes without other devices', () => {
  it('are searched among their veths, and the only one counts', async () => {
    scene.prometheus.devices = [device('a', 'eth0'), device('b', 'veth17')];
    const { nodes } = await scene.next({ a: {}, b: {} });
    expect(nodes.get('b')).toMatchObject({ reason: 'Measured', percent: 5, devices: ['veth17'] });
    const [question] = scene.prometheus.asked.filter(({ kind }) => kind === 'uplinks');
    expect(question?.expression).toContain('node=~"b"');
    expect(scene.prometheus.asked.filter(({ kind }) => kind === 'rates').at(-1)?.expression).toContain(
      'device=~"veth17"',
    );
  });

  it('are found by the addresses of a node whose series have only the label instance', async () => {
    scene.prometheus.devices = [device('', 'veth17', { instance: '[fd00::2]:9100' })];
    const { nodes } = await scene.next({ b: { addresses: ['fd00::2'] } });
    expect(nodes.get('b')).toMatchObject({ reason: 'Measured', devices: ['veth17'] });
  });

  it('are ambiguous if there are several, without effect on a node with one', async () => {
    scene.prometheus.devices = [device('a', 'veth1'), device('b', 'veth2'), device('b', 'veth3')];
    const { nodes } = await scene.next({ a: {}, b: {} });
    expect(nodes.get('a')).toMatchObject({ reason: 'Measured' });
    expect(nodes.get('b')).toMatchObject({ reason: 'AmbiguousUplink', devices: [] });
  });

  it('are not searched if each node has a device that counts', async () => {
    scene.prometheus.devices = [device('a', 'eth0'), device('a', 'veth1')];
    await scene.next({ a: {} });
    expect(scene.prometheus.count('uplinks')).toBe(0);
  });

  it('leave the reason NoSeries if the node has no veth either', async () => {
    const { nodes, infos } = await scene.next({ a: {} });
    expect(nodes.get('a')).toMatchObject({ reason: 'NoSeries' });
    expect(infos).toEqual([]);
  });

  it('are searched with queries of 16 KiB, since VictoriaMetrics refuses longer ones', async () => {
    const names = Array.from({ length: 500 }, (_, n) => `ip-10-0-0-${n}.eu-central-1.compute.internal`);
    scene.prometheus.devices = names.flatMap((name, n) =>
      n % 5 === 0 ? [device(name, 'veth1'), device(name, 'veth2')] : [device(name, `veth${n}abcdef`)],
    );
    const { nodes } = await scene.next(
      Object.fromEntries(names.map((name, n) => [name, { addresses: [`10.0.0.${n}`] }])),
    );
    const reasons = names.map((name) => nodes.get(name)?.reason);
    expect(reasons).toEqual(names.map((_, n) => (n % 5 === 0 ? 'AmbiguousUplink' : 'Measured')));
    const lengths = scene.prometheus.asked.map(({ expression }) => expression.length);
    expect(lengths.filter((length) => length > 16 * 1024)).toEqual([]);
    const searches = scene.prometheus.asked.filter(({ kind }) => kind === 'uplinks').slice(0, -1);
    expect(searches.filter(({ expression }) => expression.length < 8 * 1024)).toEqual([]);
  });

  it('do not affect other nodes if the search fails', async () => {
    scene.prometheus.devices = [device('a', 'eth0')];
    scene.prometheus.before = (_question, kind) => {
      if (kind === 'uplinks') throw new PrometheusError('BadStatus', 'Prometheus answers HTTP 405');
    };
    const { ok, nodes, infos } = await scene.next({ a: {}, b: {} });
    expect([ok, nodes.get('a')?.reason, nodes.get('b')?.reason]).toEqual([true, 'Measured', 'NoSeries']);
    expect(infos).toEqual(['looking for veth uplinks: Prometheus answers HTTP 405']);
  });
});

describe('a capacity that fell', () => {
  beforeEach(() => {
    scene.prometheus.devices = [device('a', 'bond0', { peak: '200' }), device('b', 'eth0')];
  });

  it('is reported for the affected node, once the background query has run', async () => {
    expect((await scene.next({ a: {}, b: {} })).nodes.get('a')).not.toHaveProperty('drop');
    const { nodes } = await scene.next({ a: {}, b: {} });
    const drop = { fromBytesPerSecond: 200, devices: ['bond0'] };
    expect(nodes.get('a')).toMatchObject({ percent: 5, capacityBytesPerSecond: 100, drop });
    expect(nodes.get('b')).not.toHaveProperty('drop');
  });

  it('is not reported once the speed is back, nor for a node with a capacity annotation', async () => {
    await scene.next({ a: {} });
    expect((await scene.next({ a: { capacity: annotated('1kbit') } })).nodes.get('a')).not.toHaveProperty('drop');
    scene.prometheus.devices = [device('a', 'bond0', { speed: '200', peak: '200' })];
    expect((await scene.next({ a: {} })).nodes.get('a')).not.toHaveProperty('drop');
  });

  it('is queried twice a minute, also if the query fails, and a failure does not affect the pass', async () => {
    scene.prometheus.before = (_question, kind) => {
      if (kind === 'fallen') throw new PrometheusError('QueryFailed', 'too many samples');
    };
    for (let pass = 0; pass < 7; pass++) {
      expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
      await scene.clock.advance(10_000);
    }
    expect(scene.prometheus.count('fallen')).toBe(3);
  });

  describe('of very many nodes', () => {
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`n${n}`, {}]));
    const passes = async (count: number, everyMs: number): Promise<void> => {
      for (let pass = 0; pass < count; pass++) {
        await scene.next(many);
        await scene.clock.advance(everyMs);
      }
    };
    beforeEach(() => {
      scene.prometheus.devices = Object.keys(many).map((name) => device(name, 'eth0'));
    });

    it('is queried every five minutes, and half a minute after a failure', async () => {
      await passes(11, 30_000);
      expect(scene.prometheus.count('fallen')).toBe(2);
      scene.prometheus.before = (_question, kind) => {
        if (kind === 'fallen') throw new PrometheusError('Deadline', 'no');
      };
      await scene.clock.advance(300_000);
      await passes(4, 15_000);
      expect(scene.prometheus.count('fallen')).toBe(4);
    });

    it('takes at most a tenth of the time of Prometheus', async () => {
      scene.prometheus.before = async (_question, kind) => {
        if (kind !== 'fallen') return;
        await scene.clock.advance(25_000);
        throw new PrometheusError('Deadline', 'no');
      };
      await passes(23, 10_000);
      expect(scene.prometheus.count('fallen')).toBe(1);
      await passes(1, 10_000);
      expect(scene.prometheus.count('fallen')).toBe(2);
    });

    it('is queried at most twice a minute, even if each pass finds less capacity', async () => {
      let speed = 1_000;
      scene.prometheus.before = (_question, kind) => {
        if (kind === 'facts') speed -= 1;
        scene.prometheus.devices[0] = device('n0', 'eth0', { speed: String(speed) });
      };
      await passes(7, 10_000);
      expect(scene.prometheus.count('fallen')).toBe(3);
    });
  });

  it('is queried at once if a pass finds less capacity than the previous one', async () => {
    scene.prometheus.devices = [device('a', 'bond0', { speed: '200' })];
    await scene.next({ a: {} });
    scene.prometheus.devices = [device('a', 'bond0', { speed: '100', peak: '200' })];
    await scene.next({ a: {} });
    expect(scene.prometheus.count('fallen')).toBe(2);
    expect((await scene.next({ a: {} })).nodes.get('a')).toHaveProperty('drop');
    expect(scene.prometheus.count('fallen')).toBe(2);
  });

  it('is dropped when the last answer is an hour old', async () => {
    await scene.next({ a: {} });
    scene.prometheus.before = (_question, kind) => {
      if (kind === 'fallen') throw new PrometheusError('Deadline', 'no');
    };
    await scene.clock.advance(3_599_000);
    expect((await scene.next({ a: {} })).nodes.get('a')).toHaveProperty('drop');
    await scene.clock.advance(1_000);
    expect((await scene.next({ a: {} })).nodes.get('a')).not.toHaveProperty('drop');
  });
});

describe('time', () => {
  it("is the server's, regardless of the operator's clock", async () => {
    scene.prometheus.devices = [device('a', 'eth0')];
    expect(await scene.next({ a: {} })).toMatchObject({ timeSeconds: scene.prometheus.timeSeconds });
  });

  it("is the operator's if there is no sample", async () => {
    const { nodes, timeSeconds } = await scene.next({ a: {} });
    expect(timeSeconds).toBeUndefined();
    expect(nodes.get('a')?.timeSeconds).toBe(scene.clock.now() / 1000);
  });
});

describe('the lag of samples', () => {
  it('is asked for once a minute', async () => {
    scene.prometheus.lag = '47.5';
    expect(await scene.next({ a: {} })).not.toHaveProperty('lagSeconds');
    expect(await scene.next({ a: {} })).toMatchObject({ lagSeconds: 47.5 });
    expect(scene.prometheus.count('lag')).toBe(1);
    await scene.clock.advance(60_000);
    scene.prometheus.lag = undefined;
    await scene.next({ a: {} });
    expect(await scene.next({ a: {} })).not.toHaveProperty('lagSeconds');
  });

  it('has the nodes whose samples are late, while the samples of others are not', async () => {
    Object.assign(scene.prometheus, { lag: '1', lateNodes: ['b', 'gone'] });
    expect(await scene.next({ a: {}, b: {} })).not.toHaveProperty('lateNodes');
    expect(await scene.next({ a: {}, b: {} })).toMatchObject({ lagSeconds: 1, lateNodes: new Set(['b']) });
  });
});

describe('the number of scrapes in the rate window', () => {
  const UNKNOWN_INTERVAL: UsageQuery = { windowSeconds: 120, matchers: [] };

  it('follows from the scrape interval if it is known', async () => {
    const finding = await scene.next({ a: {} });
    expect(finding.samplesPerWindow).toBe(4);
    expect(windowIsTooShort(finding)).toBe(false);
    expect(scene.prometheus.count('samples')).toBe(0);
  });

  it('is counted once a minute if the scrape interval is unknown', async () => {
    scene.collector = scene.collectorOf(UNKNOWN_INTERVAL);
    scene.prometheus.samplesPerWindow = '8';
    await scene.next({ a: {} });
    await scene.clock.advance(59_999);
    const finding = await scene.next({ a: {} });
    expect(finding.samplesPerWindow).toBe(8);
    expect(scene.prometheus.count('samples')).toBe(1);
    await scene.clock.advance(1);
    await scene.next({ a: {} });
    expect(scene.prometheus.count('samples')).toBe(2);
  });

  it('is too low if the counts stay low for the length of the window', async () => {
    scene.collector = scene.collectorOf(UNKNOWN_INTERVAL);
    scene.prometheus.samplesPerWindow = '2';
    for (let seconds = 0; seconds < 120; seconds += 10) {
      expect(await scene.next({ a: {} })).not.toHaveProperty('samplesPerWindow');
      await scene.clock.advance(10_000);
    }
    await scene.next({ a: {} });
    const finding = await scene.next({ a: {} });
    expect(finding.samplesPerWindow).toBe(2);
    expect(windowIsTooShort(finding)).toBe(true);
  });

  it('keeps its value while the window fills up after a restart of the server', async () => {
    scene.collector = scene.collectorOf(UNKNOWN_INTERVAL);
    const count = async (samples: string): Promise<number | undefined> => {
      scene.prometheus.samplesPerWindow = samples;
      await scene.next({ a: {} });
      await scene.clock.advance(60_000);
      return (await scene.next({ a: {} })).samplesPerWindow;
    };
    expect(await count('8')).toBe(8);
    expect(await count('1')).toBe(8);
    expect(await count('3')).toBe(8);
    expect(await count('8')).toBe(8);
    expect(windowIsTooShort(await scene.next({ a: {} }))).toBe(false);
  });

  it('is unknown, not too low, while there are no series or no answer', async () => {
    scene.collector = scene.collectorOf(UNKNOWN_INTERVAL);
    scene.prometheus.samplesPerWindow = undefined;
    await scene.next({ a: {} });
    scene.prometheus.before = (_question, kind) => {
      if (kind === 'samples') throw new PrometheusError('Deadline', 'no');
    };
    await scene.clock.advance(60_000);
    const finding = await scene.next({ a: {} });
    expect(finding).not.toHaveProperty('samplesPerWindow');
    expect(windowIsTooShort(finding)).toBe(false);
    expect(scene.prometheus.count('samples')).toBe(2);
  });
});
