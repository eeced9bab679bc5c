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
    expect(await pass(179, [{ total: '100' }])).toMatchObject(STALE);
    expect(await pass(180, [{ total: '101' }])).toMatchObject(MEASURED);
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
      if (kind === 'newest') throw new PrometheusError('QueryFailed', 'no');
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

  it('of many nodes leave none a figure, with queries of 16 KiB: VictoriaMetrics refuses longer ones', async () => {
    const many = Array.from({ length: 200 }, (_, n) => `n${n}.${'x'.repeat(60)}`);
    const of = { a: {}, ...Object.fromEntries(many.map((name) => [name, {}])) };
    const usagesAt = async (seconds: number) => {
      scene.prometheus.timeSeconds = BEGIN + seconds;
      scene.prometheus.devices = [...many.map((name) => device(name, 'eth0')), device('a', 'eth0')];
      return [...(await scene.next(of)).nodes.values()].filter(({ reason }) => reason === 'StaleSamples').length;
    };
    expect(await usagesAt(0)).toBe(0);
    expect(await usagesAt(60)).toBe(201);
    const asked = scene.prometheus.asked.filter(({ kind }) => kind === 'newest');
    expect(asked.filter(({ expression }) => expression.length > 16 * 1024)).toEqual([]);
  });

  it('cost no query while they move', async () => {
    await pass(0, [{}]);
    await pass(60, [{ total: '71' }]);
    expect(scene.prometheus.count('newest')).toBe(0);
  });
});
