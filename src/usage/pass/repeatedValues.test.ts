import { beforeEach, describe, expect, it } from 'vitest';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import type { FakeDevice } from '../../prometheus/testing/fakePrometheus.ts';
import { readingKey } from '../evaluate/reading.ts';
import { device, PassScene } from './testing/passScene.ts';
import type { UsageQuery } from './queries.ts';

const QUERY: UsageQuery = { windowSeconds: 120, matchers: [] };
const BEGIN = 1_700_000_000;
const RECEIVED = { direction: 'Receive' } as const;

let scene: PassScene;
beforeEach(() => {
  scene = new PassScene(QUERY);
});

/** A pass after some seconds, in which node a has these devices. Returns the usage of a. */
async function pass(seconds: number, devices: readonly Partial<FakeDevice>[], nodes: object = { a: {}, b: {} }) {
  scene.prometheus.timeSeconds = BEGIN + seconds;
  scene.prometheus.devices = [
    ...devices.map((more, index) => device('a', `eth${index}`, more)),
    device('b', 'eth0', { total: String(seconds) }),
  ];
  return (await scene.next(nodes as Record<string, object>)).nodes.get('a');
}

const STALE = { reason: 'StaleSamples' };
const MEASURED = { reason: 'Measured' };

describe('counters that get samples and stand still', () => {
  it('make no figure after a quarter of the window, although the slope is not 0 yet', async () => {
    expect(await pass(0, [{}])).toMatchObject(MEASURED);
    expect(await pass(29, [{}])).toMatchObject(MEASURED);
    const usage = await pass(30, [{}]);
    expect(usage).toMatchObject(STALE);
    expect(usage?.message).toContain('its counters stand still');
  });

  it('make none until the window has no such sample any longer', async () => {
    await pass(0, [{}]);
    expect(await pass(60, [{}])).toMatchObject(STALE);
    expect(await pass(70, [{ total: '99' }])).toMatchObject(STALE);
    expect(await pass(189, [{ total: '100' }])).toMatchObject(STALE);
    expect(await pass(190, [{ total: '101' }])).toMatchObject(MEASURED);
  });

  it('make none either after a gap, with which repeats usually end', async () => {
    await pass(0, [{}]);
    expect(await pass(60, [{}])).toMatchObject(STALE);
    expect(await pass(70, [])).toMatchObject({ reason: 'NoSeries' });
    expect(await pass(80, [{ total: '99' }])).toMatchObject(STALE);
    expect(await pass(189, [{ total: '100' }])).toMatchObject(STALE);
    expect(await pass(190, [{ total: '101' }])).toMatchObject(MEASURED);
  });

  it('make none either after a pass without any counter', async () => {
    await pass(0, [{}]);
    expect(await pass(60, [{}])).toMatchObject(STALE);
    scene.prometheus.keeps = (metric) => !metric.startsWith('node_');
    await pass(70, [{ total: '99' }]);
    scene.prometheus.keeps = () => true;
    expect(await pass(80, [{ total: '100' }])).toMatchObject(STALE);
  });

  it('make none either if the clock of the answering server goes back', async () => {
    await pass(0, [{}]);
    expect(await pass(60, [{}])).toMatchObject(STALE);
    expect(await pass(70, [{ total: '99' }])).toMatchObject(STALE);
    expect(await pass(65, [{ total: '100' }])).toMatchObject(STALE);
    expect(await pass(184, [{ total: '101' }])).toMatchObject(STALE);
    expect(await pass(185, [{ total: '102' }])).toMatchObject(MEASURED);
  });

  it('are noticed with servers whose clocks differ', async () => {
    await pass(0, [{}]);
    await pass(-5, [{}]);
    await pass(15, [{}]);
    expect(await pass(30, [{}])).toMatchObject(STALE);
  });

  it('are of all devices: another device sends, also one that does not count', async () => {
    await pass(0, [{}, { total: '1' }]);
    expect(await pass(60, [{}, { total: '2' }])).toMatchObject(MEASURED);
  });

  it.each([
    ['get no samples: the rate is of those before', { sampled: String(BEGIN + 19) }],
    ['got one sample since: it can be within a silence of the node', { sampled: String(BEGIN) }],
  ])('leave the figure if they %s', async (_what, more) => {
    await pass(0, [{}]);
    expect(await pass(60, [more])).toMatchObject(MEASURED);
  });

  it('leave the figure if nothing tells when the newest sample came', async () => {
    await pass(0, [{}]);
    scene.prometheus.before = (_query, kind) => {
      if (kind === 'standing') throw new PrometheusError('QueryFailed', 'no');
    };
    expect(await pass(60, [{}])).toMatchObject(MEASURED);
  });

  it('leave the figure by what the node receives if it never counts what it sends', async () => {
    scene.readings = new Map([[readingKey(RECEIVED), RECEIVED]]);
    await pass(0, [{ rate: '0', received: '5' }]);
    await pass(60, [{ rate: '0', received: '5' }]);
    scene.prometheus.timeSeconds = BEGIN + 90;
    const { readings } = await scene.next({ a: {}, b: {} });
    expect(readings?.get(readingKey(RECEIVED))?.nodes.get('a')).toMatchObject({ percent: 5 });
  });

  it('leave the figure of the only node, which may be silent', async () => {
    await pass(0, [{}], { a: {} });
    expect(await pass(60, [{}], { a: {} })).toMatchObject(MEASURED);
  });

  it('leave the figure if a sample that moves them is stored after they were read', async () => {
    await pass(0, [{}]);
    scene.prometheus.before = (_query, kind) => {
      if (kind === 'standing') Object.assign(scene.prometheus.devices[0]!, { total: '99' });
    };
    expect(await pass(60, [{}])).toMatchObject(MEASURED);
    expect(scene.prometheus.count('standing')).toBe(2);
  });

  it('of very many nodes leave none a figure, with one query', async () => {
    const many = Array.from({ length: 600 }, (_, n) => `n${n}`);
    const of = Object.fromEntries(many.map((name) => [name, {}]));
    const staleAt = async (seconds: number) => {
      scene.prometheus.timeSeconds = BEGIN + seconds;
      scene.prometheus.devices = many.map((name) => device(name, 'eth0'));
      return [...(await scene.next(of)).nodes.values()].filter(({ reason }) => reason === 'StaleSamples').length;
    };
    expect(await staleAt(0)).toBe(0);
    const before = scene.prometheus.count('standing');
    expect(await staleAt(60)).toBe(600);
    expect(scene.prometheus.count('standing') - before).toBe(1);
  });

  it('cost one query for new nodes, and none while they move', async () => {
    await pass(0, [{}]);
    await pass(60, [{ total: '71' }]);
    await pass(120, [{ total: '72' }]);
    expect(scene.prometheus.count('standing')).toBe(1);
  });

  it('make no figure in the first pass either, if they stand still since before', async () => {
    await pass(0, [{}]);
    await pass(60, [{}]);
    scene.collector = scene.collectorOf(QUERY);
    expect(await pass(70, [{}])).toMatchObject(STALE);
  });

  it('make no figure if the user excludes devices by name, also when the rates are 0', async () => {
    scene.collector = scene.collectorOf({ ...QUERY, excludedDevices: 'mgmt.*' });
    expect(await pass(0, [{}])).toMatchObject(MEASURED);
    expect(await pass(30, [{}])).toMatchObject(STALE);
    expect(await pass(140, [{ rate: '0' }])).toMatchObject(STALE);
  });
});

describe('counters that get samples and stand still in a cluster of more than 20,000 series', () => {
  /** So many devices that passes reuse their facts. */
  const MANY = Array.from({ length: 7_000 }, (_, n) => device('b', `eth${n}`));

  /** A pass after some seconds. Returns the usage of a. */
  async function passOfMany(seconds: number, more: Partial<FakeDevice> = {}) {
    await scene.clock.advance(5_000);
    scene.prometheus.timeSeconds = BEGIN + seconds;
    const others = scene.prometheus.count('facts') === 0 ? MANY : [device('b', 'eth0', { total: String(seconds) })];
    scene.prometheus.devices = [device('a', 'eth0', more), ...others];
    return (await scene.next({ a: {}, b: {} })).nodes.get('a');
  }

  it('make no figure either, one pass later, until the window has no such sample any longer', async () => {
    for (const seconds of [0, 10, 20, 30]) expect(await passOfMany(seconds)).toMatchObject(MEASURED);
    expect(await passOfMany(40)).toMatchObject(STALE);
    expect(await passOfMany(50, { total: '99' })).toMatchObject(STALE);
    expect(await passOfMany(169, { total: '100' })).toMatchObject(STALE);
    expect(await passOfMany(171, { total: '101' })).toMatchObject(MEASURED);
  });

  it('leave the figure if they get no samples', async () => {
    for (const seconds of [0, 10, 20, 30, 40, 50])
      expect(await passOfMany(seconds, { sampled: String(BEGIN) })).toMatchObject(MEASURED);
  });

  it('make none while the counters cannot be read: what was found is not forgotten', async () => {
    for (const seconds of [0, 10, 20, 30, 40]) await passOfMany(seconds);
    scene.prometheus.before = (_query, kind) => {
      if (kind === 'totals') throw new PrometheusError('QueryFailed', 'no');
    };
    expect(await passOfMany(50)).toMatchObject(STALE);
    expect(await passOfMany(140)).toMatchObject(STALE);
    expect(await passOfMany(170)).toMatchObject(MEASURED);
  });

  it('cost one query after each pass while they move', async () => {
    for (const seconds of [0, 10, 20, 30, 40]) await passOfMany(seconds, { total: String(seconds) });
    // The first look asks about new nodes.
    expect([scene.prometheus.count('totals'), scene.prometheus.count('standing')]).toEqual([5, 1]);
  });
});
