import { beforeEach, describe, expect, it, vi } from 'vitest';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import { readingKey } from '../evaluate/reading.ts';
import { device, PassScene, QUERY } from './testing/passScene.ts';

const MAX = { direction: 'Max' } as const;
const OLD = { pod: 'ne-1', rate: '9', ended: true } as const;

let scene: PassScene;
beforeEach(() => {
  scene = new PassScene();
});

/** Live queries that were sent. */
const asked = (): string[] =>
  scene.prometheus.asked.flatMap(({ expression }) => (expression.includes(' and (timestamp(') ? [expression] : []));

describe('a node with two series of a device', () => {
  it.each([
    ['under one instance', { pod: 'ne-2' }],
    ['under another instance', { pod: 'ne-2', instance: '10.0.0.9:9100' }],
  ])(
    'is measured by the one that gets samples, as after a pod of the exporter was replaced: %s',
    async (_what, now) => {
      scene.prometheus.devices = [device('a', 'eth0', OLD), device('a', 'eth0', now), device('b', 'eth0')];
      const { nodes } = await scene.next({ a: {}, b: {} });
      expect(nodes.get('a')).toMatchObject({ percent: 5 });
      expect(nodes.get('b')).toMatchObject({ percent: 5 });
      expect(asked()).toHaveLength(1);
      expect(asked()[0]).toContain('node=~"a"');
    },
  );

  it.each(['veth1', 'macvlan0'])('is measured so by its uplink %s', async (name) => {
    scene.prometheus.devices = [device('a', name, OLD), device('a', name, { pod: 'ne-2' })];
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
    expect(asked()[0]).toContain(`device=~"${name}"`);
  });

  it('is measured so for receive rates, too', async () => {
    scene.readings = new Map([[readingKey(MAX), MAX]]);
    scene.prometheus.devices = [
      device('a', 'eth0', { ...OLD, received: '90' }),
      device('a', 'eth0', { pod: 'ne-2', received: '7' }),
    ];
    const { readings } = await scene.next({ a: {} });
    expect(readings?.get(readingKey(MAX))?.nodes.get('a')).toMatchObject({ percent: 7 });
  });

  it('is ambiguous if both get samples', async () => {
    scene.prometheus.devices = [device('a', 'eth0', { pod: 'ne-1' }), device('a', 'eth0', { pod: 'ne-2' })];
    const usage = (await scene.next({ a: {} })).nodes.get('a');
    expect(usage).toMatchObject({ reason: 'AmbiguousSeries' });
    expect(usage?.message).toContain('they differ in the label pod');
  });

  it('has no figure until the new series has a rate', async () => {
    const devices = [device('a', 'eth0', OLD), device('a', 'eth0', OLD), device('a', 'eth0', { rate: undefined })];
    scene.prometheus.devices = devices;
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ reason: 'StaleSamples' });
  });

  it('has no figure until the new series has two samples, with replicas: VictoriaMetrics gives one sample the slope 0', async () => {
    scene = new PassScene({ ...QUERY, replicaLabels: ['replica'] });
    scene.prometheus.devices = [device('a', 'eth0', OLD), device('a', 'eth0', { pod: 'ne-2', rate: '0', newest: '1' })];
    expect((await scene.next({ a: {} })).nodes.get('a')).not.toMatchObject({ reason: 'Measured' });
    scene.prometheus.devices = [device('a', 'eth0', OLD), device('a', 'eth0', { pod: 'ne-2' })];
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ percent: 5 });
  });

  it.each([
    ['an address', '10.0.0.1'],
    ['a domain name', 'a.example.com'],
  ])('is measured so if the label node is %s', async (_what, label) => {
    const of = { node: label, instance: '10.0.0.1:9100' };
    scene.prometheus.devices = [device('a', 'eth0', { ...OLD, ...of }), device('a', 'eth0', { pod: 'ne-2', ...of })];
    expect((await scene.next({ a: { addresses: ['10.0.0.1'] } })).nodes.get('a')).toMatchObject({ percent: 5 });
    expect(asked()[0]).toContain(`node=~${JSON.stringify(`a|${label.replaceAll('.', '\\.')}`)}`);
  });

  it('is ambiguous if the question is not answered', async () => {
    scene.prometheus.devices = [device('a', 'eth0', OLD), device('a', 'eth0', { pod: 'ne-2' })];
    scene.prometheus.before = ({ expression }) => {
      if (expression.includes(' and (timestamp(')) throw new PrometheusError('QueryFailed', 'no');
    };
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ reason: 'AmbiguousSeries' });
  });

  it.each([
    ['under one instance', { pod: 'ne-2' }],
    ['under another instance', { pod: 'ne-2', instance: '10.0.0.9:9100' }],
  ])(
    'is measured by the one that gets samples, also while the other series is shown without samples for five minutes: %s',
    async (_what, now) => {
      const shown = { pod: 'ne-1', newest: '1699999900', rate: undefined, speed: '1000', total: '999' } as const;
      scene.readings = new Map([[readingKey(MAX), MAX]]);
      scene.prometheus.devices = [
        device('a', 'eth0', shown),
        device('a', 'eth0', { ...now, received: '7' }),
        device('b', 'eth0', { received: '5' }),
      ];
      const { nodes, readings } = await scene.next({ a: {}, b: {} });
      expect(nodes.get('a')).toMatchObject({ percent: 5, transmitBytesTotal: 70, capacityBytesPerSecond: 100 });
      expect(readings?.get(readingKey(MAX))?.nodes.get('a')).toMatchObject({ percent: 7 });
      expect(nodes.get('b')).toMatchObject({ percent: 5 });
    },
  );

  it('is measured by its own series if a server that was restarted still shows the series of a former node at its address', async () => {
    const address = { instance: '10.0.0.1:9100' };
    const former = { ...address, newest: '1699999900', rate: undefined, speed: '1000', total: '999' } as const;
    scene.prometheus.devices = [device('former', 'eth0', former), device('a', 'eth0', address)];
    const { nodes, unmatchedSeries } = await scene.next({ a: { addresses: ['10.0.0.1'] } });
    expect(nodes.get('a')).toMatchObject({ percent: 5, transmitBytesTotal: 70, capacityBytesPerSecond: 100 });
    expect(unmatchedSeries).toBe(1);
  });

  it('has no figure if the facts of the one that gets samples are not read', async () => {
    const shown = { instance: '10.0.0.9:9100', newest: '1699999900', rate: undefined } as const;
    scene.prometheus.devices = [device('a', 'eth0', shown), device('a', 'eth0')];
    scene.prometheus.before = ({ expression }, kind) => {
      if (kind === 'facts' && expression.includes(' and (timestamp(')) throw new PrometheusError('QueryFailed', 'no');
    };
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ reason: 'AmbiguousSeries' });
  });

  it('has no figure if samples of one of its devices have stopped, and no other series of it gets any', async () => {
    const shown = { newest: '1699999900', speed: '1000' } as const;
    scene.prometheus.devices = [device('a', 'eth0', shown), device('a', 'eth1')];
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ reason: 'StaleSamples' });
  });

  /** Nodes whose exporters were all replaced: with long names, as in clouds. */
  const replacedOn = (count: number): Record<string, object> => {
    const names = Array.from({ length: count }, (_, n) => `ip-10-0-0-${n}.eu-central-1.compute.internal`);
    scene.prometheus.devices = names.flatMap((name) => [
      device(name, 'eth0', { ...OLD, instance: `[2001:db8::${name}]:9100` }),
      device(name, 'eth0', { pod: 'ne-2' }),
    ]);
    return Object.fromEntries(names.map((name) => [name, {}]));
  };

  it('is measured so on many nodes, with queries of 16 KiB, since VictoriaMetrics refuses longer ones', async () => {
    const all = replacedOn(300);
    const { nodes } = await scene.next(all);
    expect([...nodes.values()].filter(({ percent }) => percent !== 5)).toEqual([]);
    const lengths = asked().map((expression) => expression.length);
    expect(lengths.filter((length) => length > 16 * 1024)).toEqual([]);
    expect(lengths.slice(0, -1).filter((length) => length < 8 * 1024)).toEqual([]);
  });

  it('fails no pass if the answer does not come, and others keep theirs', async () => {
    const all = replacedOn(100);
    let answered = 0;
    scene.prometheus.before = ({ expression }) =>
      expression.includes(' and (timestamp(') && ++answered > 1 ? new Promise<void>(() => undefined) : undefined;
    const pass = scene.next({ ...all });
    await vi.waitFor(async () => {
      expect(answered).toBeGreaterThan(1);
      await scene.clock.advance(1_000);
      expect(scene.clock.monotonic()).toBeGreaterThan(3_000);
    });
    const measured = [...(await pass).nodes.values()].filter(({ percent }) => percent === 5);
    expect(measured.length).toBeGreaterThan(0);
    expect(measured.length).toBeLessThan(100);
  });

  it('costs no query while there is none', async () => {
    scene.prometheus.devices = [device('a', 'eth0')];
    await scene.next({ a: {} });
    expect(asked()).toEqual([]);
  });
});
