import { beforeEach, describe, expect, it, vi } from 'vitest';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import { annotated, type StatedCapacity } from '../../nodes/statedCapacity.ts';
import { distinctReadings, readingKey, type Direction, type Reading } from '../evaluate/reading.ts';
import type { Finding } from './usageCollector.ts';
import { device, PassScene } from './testing/passScene.ts';

let scene: PassScene;

beforeEach(() => {
  scene = new PassScene();
  scene.prometheus.devices = [device('a', 'eth0', { received: '70' }), device('b', 'eth0', { received: '30' })];
});

const nodes = { a: {}, b: {} };
const ask = (...directions: Direction[]): void => {
  scene.readings = distinctReadings(directions.map((direction) => ({ direction })));
};
const figuresOf = ({ readings }: Finding, direction: Direction) => readings?.get(readingKey({ direction }));
const percents = (finding: Finding, direction: Direction): (number | undefined)[] =>
  ['a', 'b'].map((node) => figuresOf(finding, direction)?.nodes.get(node)?.percent);

function specCapacity(text: string | undefined): StatedCapacity | undefined {
  return text === undefined ? undefined : { source: 'Spec', key: 'spec.capacity[0].value', text };
}

describe('the readings of a pass', () => {
  it('cost nothing if nobody asks for another than the default', async () => {
    const finding = await scene.next(nodes);
    expect(finding).not.toHaveProperty('readings');
    expect(scene.prometheus.count('received')).toBe(0);
  });

  it('are evaluated from the same answers, and the receive rates are read once for all', async () => {
    ask('Receive', 'Max', 'Sum', 'Receive');
    const finding = await scene.next(nodes);
    expect(finding.nodes.get('a')?.percent).toBe(5);
    expect(percents(finding, 'Receive')).toEqual([70, 30]);
    expect(percents(finding, 'Max')).toEqual([70, 30]);
    expect(percents(finding, 'Sum')).toEqual([75, 35]);
    expect(['received', 'rates', 'facts'].map((kind) => scene.prometheus.count(kind as 'rates'))).toEqual([1, 1, 1]);
  });

  it('of another measure need no receive rates', async () => {
    const reading = { direction: 'Transmit', measure: 'Fullest' } as const;
    scene.readings = distinctReadings([reading]);
    scene.prometheus.devices = [device('a', 'eth0', { rate: '95' }), device('a', 'eth1', { rate: '0', speed: '250' })];
    const finding = await scene.next({ a: {} });
    expect(finding.nodes.get('a')?.percent).toBeCloseTo(27.14, 2);
    expect(finding.readings?.get(readingKey(reading))?.nodes.get('a')).toMatchObject({
      percent: 95,
      devices: ['eth0'],
    });
    expect(scene.prometheus.count('received')).toBe(0);
  });

  it('with capacities of their own do not mix, and come before what the Node states', async () => {
    const stating = (text: string, of: Record<string, string>): Reading => ({
      direction: 'Transmit',
      capacities: { text, of: (node) => specCapacity(of[node]) },
    });
    const [one, other] = [stating('1', { a: '1kbit', b: 'fast' }), stating('2', { a: '2kbit' })];
    scene.readings = distinctReadings([one, other]);
    scene.prometheus.devices = [device('a', 'eth0'), device('b', 'eth0'), device('c', 'eth0', { speed: '-1' })];
    const finding = await scene.next({ a: { capacity: annotated('4kbit') }, b: {}, c: {} });
    const seen = (reading: Reading | undefined, node: string): unknown[] => {
      const figures = reading === undefined ? finding.nodes : finding.readings?.get(readingKey(reading))?.nodes;
      const { percent, capacitySource, reason } = figures?.get(node) ?? {};
      return [percent, capacitySource ?? reason];
    };
    expect([undefined, one, other].map((reading) => seen(reading, 'a'))).toEqual([
      [1, 'Annotation'],
      [4, 'Spec'],
      [2, 'Spec'],
    ]);
    expect([one, other].map((reading) => seen(reading, 'b'))).toEqual([
      [undefined, 'InvalidCapacity'],
      [5, 'Series'],
    ]);
    expect([one, other].map((reading) => seen(reading, 'c'))).toEqual(Array(2).fill([undefined, 'NoCapacity']));
  });

  it('have the speed drop of the device that they are about', async () => {
    const reading = { direction: 'Transmit', measure: 'Fullest' } as const;
    scene.readings = distinctReadings([reading]);
    scene.prometheus.devices = [device('a', 'eth0', { rate: '95', peak: '200' }), device('a', 'eth1', { peak: '150' })];
    await scene.next({ a: {} });
    const usage = (await scene.next({ a: {} })).readings?.get(readingKey(reading))?.nodes.get('a');
    expect(usage?.drop).toEqual({ fromBytesPerSecond: 200, devices: ['eth0'] });
  });

  it('with patterns are about the devices that these leave', async () => {
    const reading = { direction: 'Transmit', exclude: 'eth1' } as const;
    const none = { direction: 'Transmit', include: 'bond.*' } as const;
    scene.readings = distinctReadings([reading, none]);
    scene.prometheus.devices = [device('a', 'eth0', { rate: '50' }), device('a', 'eth1', { rate: 'NaN' })];
    const { nodes: byDefault, readings } = await scene.next({ a: {} });
    expect(byDefault.get('a')).toMatchObject({ reason: 'InvalidSample' });
    expect(readings?.get(readingKey(reading))?.nodes.get('a')).toMatchObject({ percent: 50, devices: ['eth0'] });
    expect(readings?.get(readingKey(none))?.nodes.get('a')).toMatchObject({
      reason: 'NoDeviceSelected',
      message: 'devices.include and devices.exclude leave none of the devices that count: eth0, eth1',
    });
  });

  it('with a pattern that is none have no figures, and the others have theirs', async () => {
    const [broken, good]: Reading[] = [{ direction: 'Transmit', include: '(' }, { direction: 'Receive' }];
    scene.readings = distinctReadings([broken!, good!]);
    const { readings } = await scene.next(nodes);
    expect([broken!, good!].map((reading) => readings?.get(readingKey(reading))?.nodes.size)).toEqual([0, 2]);
  });

  it('with patterns are about veth uplinks, too', async () => {
    const reading = { direction: 'Transmit', exclude: 'veth.*' } as const;
    scene.readings = distinctReadings([reading]);
    scene.prometheus.devices = [device('a', 'veth1')];
    const { nodes: byDefault, readings } = await scene.next({ a: {} });
    expect(byDefault.get('a')?.percent).toBe(5);
    expect(readings?.get(readingKey(reading))?.nodes.get('a')).toMatchObject({ reason: 'NoDeviceSelected' });
  });

  it('end with the demand, and begin with it again', async () => {
    ask('Receive');
    await scene.next(nodes);
    ask('Transmit');
    expect(await scene.next(nodes)).not.toHaveProperty('readings');
    expect(scene.prometheus.count('received')).toBe(1);
    ask('Receive');
    scene.prometheus.devices = [device('a', 'eth0', { received: '40' })];
    expect(percents(await scene.next(nodes), 'Receive')).toEqual([40, undefined]);
  });

  it('follow the receive rates from pass to pass', async () => {
    ask('Receive');
    await scene.next(nodes);
    scene.prometheus.devices = [device('a', 'eth0', { received: '50' }), device('b', 'eth0')];
    const finding = await scene.next(nodes);
    expect(percents(finding, 'Receive')).toEqual([50, undefined]);
    expect(figuresOf(finding, 'Receive')?.nodes.get('b')).toMatchObject({ reason: 'StaleSamples' });
  });

  it('have an error if the receive rates cannot be read, and the default reading has none', async () => {
    ask('Receive', 'Max');
    scene.prometheus.before = (_query, kind) => {
      if (kind === 'received') throw new PrometheusError('QueryFailed', 'too many samples');
    };
    const finding = await scene.next(nodes);
    expect([finding.ok, finding.nodes.get('a')?.percent]).toEqual([true, 5]);
    for (const direction of ['Receive', 'Max'] as const) {
      const error = { reason: 'QueryFailed', message: 'the receive rates: too many samples' };
      expect(figuresOf(finding, direction)).toMatchObject({ nodes: new Map(), error });
    }
  });

  it('have the warnings of their own answers only', async () => {
    ask('Receive');
    scene.prometheus.warningsOf = (kind) => (kind === 'received' ? ['partial'] : []);
    const finding = await scene.next(nodes);
    expect(figuresOf(finding, 'Receive')?.warnings).toEqual(['partial']);
  });

  it('include nodes that are measured by a veth uplink', async () => {
    ask('Receive');
    scene.prometheus.devices = [device('a', 'veth1', { received: '70' }), device('b', 'eth0', { received: '30' })];
    const finding = await scene.next(nodes);
    expect(finding.nodes.get('a')).toMatchObject({ percent: 5, devices: ['veth1'] });
    expect(figuresOf(finding, 'Receive')?.nodes.get('a')).toMatchObject({ percent: 70, devices: ['veth1'] });
  });

  it('say what is missing if only the receive rates of an uplink cannot be read', async () => {
    ask('Receive');
    scene.prometheus.devices = [device('a', 'veth1', { received: '70' }), device('b', 'eth0', { received: '30' })];
    scene.prometheus.before = ({ expression }, kind) => {
      if (kind === 'received' && expression.includes('veth1')) throw new PrometheusError('QueryFailed', 'no');
    };
    const finding = await scene.next(nodes);
    expect(finding.nodes.get('a')?.percent).toBe(5);
    expect(figuresOf(finding, 'Receive')?.nodes.get('a')).toMatchObject({
      reason: 'StaleSamples',
      message: expect.stringMatching(/^no receive rate/) as string,
    });
  });
});

describe('the time for the readings of a pass', () => {
  let elapsed = 0;
  let order: number[];
  /** A reading that takes so many milliseconds for each node. */
  const taking = (ms: number, changes: Partial<Reading> = {}): Reading => ({
    direction: 'Transmit',
    ...changes,
    capacities: {
      text: String(ms),
      of: () => {
        elapsed += ms;
        if (order.at(-1) !== ms) order.push(ms);
        return undefined;
      },
    },
  });
  /** Runs a pass. @returns how many nodes each reading has figures of, or that it had no time */
  const passOf = async (known: typeof nodes, ...readings: Reading[]): Promise<unknown[]> => {
    scene.readings = distinctReadings(readings);
    order = [];
    const { ok, nodes: byDefault, readings: figures } = await scene.next(known);
    expect([ok, byDefault.size]).toEqual([true, Object.keys(known).length]);
    return [...scene.readings.keys()].map((key) => {
      const { hadNoTime, nodes: of } = figures?.get(key) ?? {};
      return hadNoTime ? `no time, ${of?.size}` : of?.size;
    });
  };

  beforeEach(() => {
    elapsed = 0;
    vi.spyOn(scene.clock, 'monotonic').mockImplementation(() => elapsed);
  });

  it('ends before the deadline of the pass, and one that had none has its turn with the next pass', async () => {
    const [costly, cheap] = [taking(5_000), taking(1)];
    expect(await passOf(nodes, costly, cheap)).toEqual([2, 'no time, 0']);
    expect([await passOf(nodes, costly, cheap), order]).toEqual([
      [2, 2],
      [1, 5_000],
    ]);
  });

  it('is first for half the time of new ones, then of those that took least last time', async () => {
    const [slow, quick] = [taking(900), taking(10)];
    await passOf(nodes, slow, quick);
    await passOf(nodes, slow, quick, taking(1_500), taking(2));
    expect(order).toEqual([1_500, 10, 900]);
  });

  it('leaves no reading with figures of only some nodes', async () => {
    const names = Array.from({ length: 60 }, (_, n) => `n${n}`);
    scene.prometheus.devices = names.map((name) => device(name, 'eth0'));
    const known = Object.fromEntries(names.map((name) => [name, {}])) as typeof nodes;
    expect(await passOf(known, taking(100, { include: 'eth.*' }))).toEqual(['no time, 0']);
  });
});
