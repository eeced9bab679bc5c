import { beforeEach, describe, expect, it } from 'vitest';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import { readingKey } from '../evaluate/reading.ts';
import { device, PassScene } from './testing/passScene.ts';

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

  it('costs no query while there is none', async () => {
    scene.prometheus.devices = [device('a', 'eth0')];
    await scene.next({ a: {} });
    expect(asked()).toEqual([]);
  });
});
