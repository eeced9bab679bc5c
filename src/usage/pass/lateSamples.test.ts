import { beforeEach, describe, expect, it } from 'vitest';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import type { Direction } from '../evaluate/reading.ts';
import { readingKey } from '../evaluate/reading.ts';
import { device, PassScene, QUERY } from './testing/passScene.ts';

const NEWEST = { newest: '1700000000' };

let scene: PassScene;
beforeEach(() => {
  scene = new PassScene();
});

describe('a device whose newest sample is too old', () => {
  it('has no rate, and the node no figure, but the time of the sample', async () => {
    scene.prometheus.devices = [device('a', 'eth0', NEWEST), device('b', 'eth0')];
    const { nodes } = await scene.next({ a: {}, b: {} });
    expect(nodes.get('a')).toMatchObject({ reason: 'StaleSamples', newestSeconds: 1_700_000_000 });
    expect(nodes.get('a')).not.toHaveProperty('percent');
    expect(nodes.get('a')?.message).toContain('the newest sample of eth0 is older than 15 s');
    expect(nodes.get('b')).toMatchObject({ percent: 5 });
  });

  it('has a figure in the pass that finds new samples', async () => {
    scene.prometheus.devices = [device('a', 'eth0', NEWEST)];
    await scene.next({ a: {} });
    scene.prometheus.devices = [device('a', 'eth0')];
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
  });

  it('has no figure either while facts are reused: the rates tell', async () => {
    const many = Array.from({ length: 5_001 }, (_, n) => device(`n${n}`, 'eth0', { flags: '4163', ifaceId: '2' }));
    const nodes = Object.fromEntries(many.map(({ node }) => [node!, {}]));
    scene.prometheus.devices = many;
    expect((await scene.next(nodes)).nodes.get('n7')).toMatchObject({ percent: 5 });
    const facts = scene.prometheus.count('facts');
    scene.prometheus.devices = many.map((each) => (each.node === 'n7' ? { ...each, ...NEWEST } : each));
    await scene.clock.advance(5_000);
    // Asked for after the pass, so that the pass does not take longer.
    expect((await scene.next(nodes)).nodes.get('n7')).toMatchObject({ percent: 5 });
    const after = await scene.next(nodes);
    expect(scene.prometheus.count('facts')).toBe(facts);
    expect(after.nodes.get('n7')).toMatchObject({ reason: 'StaleSamples' });
    expect(after.nodes.get('n8')).toMatchObject({ percent: 5 });
    expect(scene.prometheus.count('late')).toBe(2);
  });

  it('fails the pass in a large cluster if the query after the pass before has failed: a counter may have fallen since', async () => {
    const many = Array.from({ length: 5_001 }, (_, n) => device(`n${n}`, 'eth0', { flags: '4163', ifaceId: '2' }));
    const nodes = Object.fromEntries(many.map(({ node }) => [node!, {}]));
    scene.prometheus.devices = many;
    await scene.next(nodes);
    const fell = { newest: '-1', samples: ['3e11', '3.001e11', '0', '1e8'] };
    scene.prometheus.devices = many.map((each) => (each.node === 'n7' ? { ...each, ...fell } : each));
    scene.prometheus.before = (_query, kind) => {
      if (kind === 'late') throw new PrometheusError('QueryFailed', 'no');
    };
    await scene.clock.advance(10_000);
    await scene.next(nodes);
    await scene.clock.advance(10_000);
    await expect(scene.next(nodes)).rejects.toMatchObject({ reason: 'QueryFailed' });
    scene.prometheus.before = () => undefined;
    expect((await scene.next(nodes)).nodes.get('n7')).toMatchObject({ reason: 'CounterReset' });
  });

  it.each(['transmit', 'receive'])(
    'has no figure in the pass in which one %s sample is left, in a large cluster whose silence tells nothing',
    async (counted) => {
      const reading = { direction: counted === 'transmit' ? 'Transmit' : 'Receive', exclude: 'x' } as const;
      scene = new PassScene({ ...QUERY, excludedDevices: 'cali.*' });
      scene.readings = new Map([[readingKey(reading), reading]]);
      const more = { flags: '4163', ifaceId: '2', received: '5' };
      const many = Array.from({ length: 5_001 }, (_, n) => device(`n${n}`, 'eth0', more));
      const nodes = Object.fromEntries(many.map(({ node }) => [node!, {}]));
      scene.prometheus.devices = many;
      await scene.next(nodes);
      const single = { rate: '0', received: '0', newest: '1' };
      scene.prometheus.devices = many.map((each) => (each.node === 'n7' ? { ...each, ...single } : each));
      const figures = (await scene.next(nodes)).readings?.get(readingKey(reading))?.nodes;
      expect(figures?.get('n7')).toMatchObject({ reason: 'StaleSamples' });
      expect(figures?.get('n8')).toMatchObject({ percent: 5 });
    },
  );

  it('is a veth uplink: the same', async () => {
    scene.prometheus.devices = [device('a', 'veth1', NEWEST)];
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ reason: 'StaleSamples' });
  });

  it.each(['Receive', 'Max', 'Sum'] as const)('has no figure for the direction %s', async (direction: Direction) => {
    scene.readings = new Map([[readingKey({ direction }), { direction }]]);
    scene.prometheus.devices = [
      device('a', 'eth0', { ...NEWEST, received: '9' }),
      device('b', 'eth0', { received: '9' }),
    ];
    const { readings } = await scene.next({ a: {}, b: {} });
    const figures = readings?.get(readingKey({ direction }))?.nodes;
    expect(figures?.get('a')).toMatchObject({ reason: 'StaleSamples' });
    expect(figures?.get('b')?.percent).toBeGreaterThan(0);
  });

  it('is known by its receive counter for the direction Receive, and keeps its transmit rate', async () => {
    scene.readings = new Map([[readingKey({ direction: 'Receive' }), { direction: 'Receive' }]]);
    scene.prometheus.devices = [device('a', 'eth0', { received: '9', newestReceived: NEWEST.newest })];
    const { nodes, readings } = await scene.next({ a: {} });
    const figure = readings?.get(readingKey({ direction: 'Receive' }))?.nodes.get('a');
    expect(figure).toMatchObject({ reason: 'StaleSamples', newestSeconds: 1_700_000_000 });
    expect(nodes.get('a')).toMatchObject({ percent: 5 });
  });

  it('leaves no figure next to one with new samples, nor of a stated capacity', async () => {
    scene.prometheus.devices = [device('a', 'eth0'), device('a', 'eth1', NEWEST)];
    const capacity = { source: 'Annotation', key: 'k', text: '1kbit' } as const;
    for (const node of [{}, { capacity }]) {
      const usage = (await scene.next({ a: node })).nodes.get('a');
      expect(usage).toMatchObject({ reason: 'StaleSamples', newestSeconds: 1_700_000_000 });
      expect(usage?.message).toContain('the newest sample of eth1 is older');
    }
  });

  it('has no figure in a pass of the past', async () => {
    scene.prometheus.devices = [device('a', 'eth0', NEWEST)];
    await scene.next({ a: {} });
    const deadline = { signal: new AbortController().signal, timeoutMs: 8_000 };
    const past = await scene.collector.past(new Map([['a', {}]]), scene.clock.now(), 30, deadline);
    expect(past.nodes.get('a')).toMatchObject({ reason: 'StaleSamples' });
    expect(scene.prometheus.asked.at(-1)?.expression).toContain(
      `offset 30000ms) < time() - ${QUERY.windowSeconds * 0.75 + 30}`,
    );
  });
});

it('a warning about late samples is a warning of the pass: without the answer, old rates may be among the others', async () => {
  scene.prometheus.devices = [device('a', 'eth0')];
  scene.prometheus.warningsOf = (kind) => (kind === 'late' ? ['partial'] : []);
  expect((await scene.next({ a: {} })).warnings).toEqual(['partial']);
});
