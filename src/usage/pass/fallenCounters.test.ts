import { beforeEach, describe, expect, it, vi } from 'vitest';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import { readingKey } from '../evaluate/reading.ts';
import { device, PassScene } from './testing/passScene.ts';

const FELL = { newest: '-1', samples: ['3e11', '3.001e11', '0', '1e8'] };
const STEPPED_BACK = { newest: '-1', samples: ['3e11', '3.001e11', '3.0009999999e11', '3.002e11'] };
const RECEIVED = { direction: 'Receive' } as const;

let scene: PassScene;
beforeEach(() => {
  scene = new PassScene();
});

describe('a device whose counter fell within the window', () => {
  it('has no figure, although its slope is plausible', async () => {
    scene.prometheus.devices = [device('a', 'eth0', FELL), device('b', 'eth0')];
    const { nodes } = await scene.next({ a: {}, b: {} });
    expect(nodes.get('a')).toMatchObject({
      reason: 'CounterReset',
      message: expect.stringContaining('if it never is, two writers share the series') as string,
    });
    expect(nodes.get('a')).not.toHaveProperty('percent');
    expect(nodes.get('b')).toMatchObject({ percent: 5 });
  });

  it('has a figure if it only stepped back by some bytes', async () => {
    scene.prometheus.devices = [device('a', 'eth0', STEPPED_BACK), device('b', 'eth0', FELL)];
    const { nodes } = await scene.next({ a: {}, b: {} });
    expect(nodes.get('a')).toMatchObject({ percent: 5 });
    expect(nodes.get('b')).toMatchObject({ reason: 'CounterReset' });
  });

  it('has a figure on each of many nodes that only stepped back, with queries of 16 KiB', async () => {
    const names = Array.from({ length: 400 }, (_, n) => `n${n}.${'x'.repeat(60)}`);
    scene.prometheus.devices = names.map((node, n) => device(node, 'eth0', n === 399 ? FELL : STEPPED_BACK));
    const { nodes } = await scene.next(Object.fromEntries(names.map((name) => [name, {}])));
    const without = names.filter((name) => nodes.get(name)?.percent !== 5);
    expect(without).toEqual(names.slice(-1));
    const lengths = scene.prometheus.asked.flatMap(({ kind, expression }) =>
      kind === 'raw' ? [expression.length] : [],
    );
    expect(lengths.filter((length) => length > 16 * 1024)).toEqual([]);
  });

  it('has none if one of its two series fell far', async () => {
    scene.prometheus.devices = [
      device('a', 'eth0', { ...STEPPED_BACK, pod: 'ne-1', ended: true }),
      device('a', 'eth0', { ...FELL, pod: 'ne-2' }),
    ];
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ reason: 'CounterReset' });
  });

  it.each([
    ['its samples are refused', 'raw', STEPPED_BACK],
    ['its samples are missing', undefined, { newest: '-1' }],
    ['the server does not answer when it evaluates', 'behind', STEPPED_BACK],
    ['the server has no answer to when it evaluates', undefined, STEPPED_BACK],
  ] as const)('has none if %s', async (what, refused, samples) => {
    scene.prometheus.devices = [device('a', 'eth0', samples)];
    scene.prometheus.tellsTime = !what.includes('has no answer');
    scene.prometheus.before = (_query, kind) => {
      if (kind === refused) throw new PrometheusError('QueryFailed', 'no');
    };
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ reason: 'CounterReset' });
  });

  it('fails no pass if the answer about its samples does not come', async () => {
    scene.prometheus.devices = [device('a', 'eth0', FELL), device('b', 'eth0')];
    scene.prometheus.before = (_query, kind) => (kind === 'raw' ? new Promise<void>(() => undefined) : undefined);
    const pass = scene.next({ a: {}, b: {} });
    await scene.clock.advance(0);
    await vi.waitFor(async () => {
      expect(scene.prometheus.count('raw')).toBeGreaterThan(0);
      await scene.clock.advance(1_000);
      expect(scene.clock.monotonic()).toBeGreaterThan(4_000);
    });
    const { nodes } = await pass;
    expect(nodes.get('a')).toMatchObject({ reason: 'CounterReset' });
    expect(nodes.get('b')).toMatchObject({ percent: 5 });
  });

  it('does not matter if the device does not count', async () => {
    scene.prometheus.devices = [device('a', 'eth0'), device('a', 'ib0', FELL)];
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
  });

  it('is asked for receive counters only while a reading uses them', async () => {
    scene.prometheus.devices = [device('a', 'eth0', { ...FELL, received: '9' })];
    await scene.next({ a: {} });
    const asked = (): string[] =>
      scene.prometheus.asked.flatMap(({ kind, expression }) => (kind === 'raw' ? [expression] : []));
    expect(asked().join()).not.toContain('_receive_');
    scene.readings = new Map([[readingKey(RECEIVED), RECEIVED]]);
    const { readings } = await scene.next({ a: {} });
    expect(asked().join()).toContain('_receive_');
    expect(readings?.get(readingKey(RECEIVED))?.nodes.get('a')).toMatchObject({ reason: 'CounterReset' });
  });

  it('has no figure in a pass of the past, and as a veth uplink', async () => {
    scene.prometheus.devices = [device('a', 'veth1', FELL), device('b', 'eth0', FELL)];
    expect((await scene.next({ a: {}, b: {} })).nodes.get('a')).toMatchObject({ reason: 'CounterReset' });
    const deadline = { signal: new AbortController().signal, timeoutMs: 8_000 };
    const past = await scene.collector.past(new Map([['b', {}]]), scene.clock.now(), 30, deadline);
    expect(past.nodes.get('b')).toMatchObject({ reason: 'CounterReset' });
    expect(scene.prometheus.asked.at(-1)?.expression).toMatch(/\[32s\] offset 30000ms$/);
  });

  it('costs no query while there is none', async () => {
    scene.prometheus.devices = [device('a', 'eth0')];
    await scene.next({ a: {} });
    expect(scene.prometheus.count('raw')).toBe(0);
  });
});

describe('a device whose first sample is an inserted 0', () => {
  /** 5 % of the capacity, and what the slope through the samples is. */
  const ZERO = { total: '300300000000', rate: '58', samples: ['0', '3.001e11', '3.002e11', '3.003e11'] };
  const YOUNG = { ...ZERO, rate: '5000000000', speed: '10000000000' };

  it('has no figure until the sample has left the window', async () => {
    scene.prometheus.devices = [device('a', 'eth0', YOUNG), device('b', 'eth0')];
    const { nodes } = await scene.next({ a: {}, b: {} });
    expect(nodes.get('a')).toMatchObject({ reason: 'CounterReset' });
    expect(nodes.get('b')).toMatchObject({ percent: 5 });
    scene.prometheus.devices = [device('a', 'eth0', { ...YOUNG, samples: ZERO.samples.slice(1) })];
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 50 });
  });

  it('has no figure for the direction Receive either', async () => {
    scene.readings = new Map([[readingKey(RECEIVED), RECEIVED]]);
    scene.prometheus.devices = [device('a', 'eth0', { ...YOUNG, received: '9' })];
    const { readings } = await scene.next({ a: {} });
    expect(readings?.get(readingKey(RECEIVED))?.nodes.get('a')).toMatchObject({ reason: 'CounterReset' });
  });

  it('keeps its figure if the server does not answer which they are', async () => {
    scene.prometheus.devices = [device('a', 'eth0', YOUNG)];
    scene.prometheus.before = (_query, kind) => {
      if (kind === 'zeros') throw new PrometheusError('QueryFailed', 'no');
    };
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 50 });
  });

  it('costs no query if no counter is so small that it can matter', async () => {
    scene.prometheus.devices = [device('a', 'eth0', ZERO), device('b', 'eth0')];
    await scene.next({ a: {}, b: {} });
    expect(scene.prometheus.count('zeros') + scene.prometheus.count('raw')).toBe(0);
  });
});

describe('a device with one sample in the window', () => {
  it('has no rate, whatever the server says: VictoriaMetrics says 0', async () => {
    const single = { newest: '1', rate: '0' };
    scene.prometheus.devices = [device('a', 'eth0', single), device('b', 'eth0'), device('b', 'eth1', single)];
    const { nodes } = await scene.next({ a: {}, b: {} });
    expect(nodes.get('a')).toMatchObject({ reason: 'StaleSamples' });
    expect(nodes.get('a')?.message).toContain('fewer than two samples');
    expect(nodes.get('b')).toMatchObject({ reason: 'StaleSamples' });
    expect(nodes.get('b')?.message).toContain('eth1');
  });

  it.each(['Receive', 'Max', 'Sum'] as const)(
    'has no receive rate if only the receive counter has one, and no figure for the direction %s',
    async (direction) => {
      scene.readings = new Map([[readingKey({ direction }), { direction }]]);
      const single = { received: '0', newestReceived: '1' };
      scene.prometheus.devices = [device('a', 'eth0', single), device('b', 'eth0', { received: '7' })];
      const { nodes, readings } = await scene.next({ a: {}, b: {} });
      const figures = readings?.get(readingKey({ direction }))?.nodes;
      expect(figures?.get('a')).toMatchObject({ reason: 'StaleSamples' });
      expect(figures?.get('a')?.message).toContain('fewer than two samples');
      expect(figures?.get('b')).toMatchObject({ reason: 'Measured' });
      expect(nodes.get('a')).toMatchObject({ percent: 5 });
    },
  );

  it('has no transmit rate if only the transmit counter has one: the receive rate counts', async () => {
    scene.readings = new Map([[readingKey(RECEIVED), RECEIVED]]);
    scene.prometheus.devices = [
      device('a', 'eth0', { rate: '0', newest: '1', received: '7', newestReceived: '' }),
      device('b', 'eth0'),
    ];
    const { nodes, readings } = await scene.next({ a: {}, b: {} });
    expect(nodes.get('a')).toMatchObject({ reason: 'StaleSamples' });
    expect(readings?.get(readingKey(RECEIVED))?.nodes.get('a')).toMatchObject({ percent: 7 });
  });

  it('keeps the rate of its other series, as when the samples of a replaced pod of an exporter leave the window', async () => {
    scene.prometheus.devices = [
      device('a', 'eth0', { pod: 'ne-1', newest: '1', rate: undefined, ended: true }),
      device('a', 'eth0', { pod: 'ne-2' }),
    ];
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
  });
});

describe('a counter that fell from one pass to the next, of which the server does not tell, as with Thanos', () => {
  const SAMPLES = { samples: FELL.samples };
  const before = (): void => {
    scene.prometheus.devices = [device('a', 'eth0', { total: '300100000000' })];
  };

  it('makes no figure until the window has passed', async () => {
    before();
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
    scene.prometheus.devices = [device('a', 'eth0', { ...SAMPLES, total: '100000000' })];
    scene.prometheus.timeSeconds += 10;
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ reason: 'CounterReset' });
    scene.prometheus.devices = [device('a', 'eth0', { samples: ['1e8', '2e8', '3e8'], total: '300000000' })];
    scene.prometheus.timeSeconds += 20;
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
    const asked = scene.prometheus.count('raw');
    scene.prometheus.timeSeconds += 20;
    await scene.next({ a: {} });
    expect(scene.prometheus.count('raw')).toBe(asked);
  });

  it.each([
    ['the node', []],
    ['the device', [device('a', 'eth1', { total: '300100000000' })]],
  ])('makes no figure if %s is absent in between, as while it reboots', async (_what, without) => {
    before();
    await scene.next({ a: {}, b: {} });
    scene.prometheus.devices = [...without, device('b', 'eth0')];
    for (let pass = 0; pass < 2; pass++) {
      scene.prometheus.timeSeconds += 10;
      await scene.next({ a: {}, b: {} });
    }
    scene.prometheus.devices = [device('a', 'eth0', { ...SAMPLES, total: '100000000' }), device('b', 'eth0')];
    scene.prometheus.timeSeconds += 10;
    const { nodes } = await scene.next({ a: {}, b: {} });
    expect(nodes.get('a')).toMatchObject({ reason: 'CounterReset' });
  });

  it('costs no query if it was absent for longer than the window has samples of before', async () => {
    before();
    await scene.next({ a: {}, b: {} });
    scene.prometheus.devices = [device('b', 'eth0')];
    scene.prometheus.timeSeconds += 10;
    await scene.next({ a: {}, b: {} });
    scene.prometheus.devices = [device('a', 'eth0', { ...SAMPLES, total: '100000000' }), device('b', 'eth0')];
    scene.prometheus.timeSeconds += 30;
    expect((await scene.next({ a: {}, b: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
    expect(scene.prometheus.count('raw')).toBe(0);
  });

  it.each([
    ['are refused', 'QueryFailed'],
    ['do not show one', undefined],
  ] as const)('is no fall if its samples %s, as of two servers behind one address', async (_what, reason) => {
    before();
    await scene.next({ a: {} });
    scene.prometheus.devices = [device('a', 'eth0', { samples: ['3e11', '3.001e11'], total: '300000000000' })];
    scene.prometheus.before = (_query, kind) => {
      if (kind === 'raw' && reason) throw new PrometheusError(reason, 'no');
    };
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
    expect(scene.prometheus.count('raw')).toBeGreaterThan(0);
  });

  it('is no fall of more nodes than one query can name', async () => {
    const nodes = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`n${n}.${'x'.repeat(60)}`, {}]));
    const all = (total: string) =>
      Object.keys(nodes).map((node) => device(node, 'eth0', { samples: ['3e11', '3.001e11'], total }));
    scene.prometheus.devices = all('300100000000');
    await scene.next(nodes);
    scene.prometheus.devices = all('300000000000');
    const { nodes: found } = await scene.next(nodes);
    expect([...found.values()].filter(({ percent }) => percent !== 5)).toEqual([]);
    const lengths = scene.prometheus.asked.flatMap(({ kind, expression }) =>
      kind === 'raw' ? [expression.length] : [],
    );
    expect(lengths.filter((length) => length > 16 * 1024 || length < 6 * 1024)).toEqual([]);
  });

  it('needs no second question if the server tells', async () => {
    before();
    await scene.next({ a: {} });
    scene.prometheus.devices = [device('a', 'eth0', { ...FELL, total: '100000000' })];
    await scene.next({ a: {} });
    // By the label node, and by the instance.
    expect(scene.prometheus.count('raw')).toBe(2);
  });
});
