import { beforeEach, describe, expect, it } from 'vitest';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import { annotated } from '../../nodes/statedCapacity.ts';
import { readingKey } from '../evaluate/reading.ts';
import { device, PassScene, QUERY } from './testing/passScene.ts';

const RECEIVED = { direction: 'Receive' } as const;
/** A rate of 126 % of the speed of `device`. */
const TOO_FAST = '126';

let scene: PassScene;
beforeEach(() => {
  scene = new PassScene({ ...QUERY, replicaLabels: ['replica'] });
});

/** Queries for the rate of another replica that were sent. */
const asked = (): string[] =>
  scene.prometheus.asked.flatMap(({ expression }) => (expression.includes('min without') ? [expression] : []));

/** From now on, another replica has these rates. */
function otherReplica(rates: { readonly rate?: string; readonly received?: string }): void {
  const first = scene.prometheus.devices;
  const isOfFirst = ({ expression }: { expression: string }): boolean => !expression.includes('min without');
  scene.prometheus.before = (query) => {
    scene.prometheus.devices = isOfFirst(query) ? first : first.map((each) => ({ ...each, ...rates }));
  };
}

describe('a rate that cannot be, of one of several replicas', () => {
  it('does not win: the rate of another replica counts', async () => {
    scene.prometheus.devices = [device('a', 'eth0', { rate: TOO_FAST }), device('a', 'eth1'), device('b', 'eth0')];
    otherReplica({ rate: '7' });
    const { nodes } = await scene.next({ a: {}, b: {} });
    // eth1 keeps its rate.
    expect(nodes.get('a')).toMatchObject({ reason: 'Measured', percent: 6 });
    expect(nodes.get('b')).toMatchObject({ percent: 5 });
    expect(asked()).toHaveLength(1);
    expect(asked()[0]).toContain('{device=~"eth0",node=~"a"}');
  });

  it('counts if the capacity of the node, which something states, allows it: a replica that is behind does not win', async () => {
    scene.prometheus.devices = [device('a', 'eth0', { rate: TOO_FAST })];
    otherReplica({ rate: '7' });
    const { nodes } = await scene.next({ a: { capacity: annotated('4kbit') } });
    expect(nodes.get('a')).toMatchObject({ reason: 'Measured', percent: 25.2 });
    expect(asked()).toEqual([]);
  });

  it('does not win for receive rates', async () => {
    scene.readings = new Map([[readingKey(RECEIVED), RECEIVED]]);
    scene.prometheus.devices = [device('a', 'eth0', { received: TOO_FAST })];
    otherReplica({ received: '8' });
    const { readings } = await scene.next({ a: {} });
    expect(readings?.get(readingKey(RECEIVED))?.nodes.get('a')).toMatchObject({ percent: 8 });
  });

  it('does not win in an earlier pass', async () => {
    scene.prometheus.devices = [device('a', 'eth0', { rate: TOO_FAST })];
    otherReplica({ rate: '7' });
    await scene.next({ a: {} });
    const deadline = { signal: new AbortController().signal, timeoutMs: 8_000 };
    const { nodes } = await scene.collector.past(new Map([['a', {}]]), scene.clock.now(), 5, deadline);
    expect(nodes.get('a')).toMatchObject({ percent: 7 });
    expect(asked().at(-1)).toContain('offset 5000ms');
  });

  it.each([
    ['all replicas have such a rate', () => otherReplica({ rate: '9999' })],
    [
      'the question is not answered',
      () => {
        scene.prometheus.before = ({ expression }) => {
          if (expression.includes('min without')) throw new PrometheusError('QueryFailed', 'no');
        };
      },
    ],
  ])('is an InvalidSample if %s', async (_why, begin) => {
    scene.prometheus.devices = [device('a', 'eth0', { rate: TOO_FAST })];
    begin();
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ reason: 'InvalidSample' });
  });

  it.each([
    ['a rate that can be', device('a', 'eth0', { rate: '125' })],
    ['a bond at 200 %', device('a', 'bond0', { rate: '200', flags: String(0x1443) })],
  ])('costs no query with %s', async (_why, one) => {
    scene.prometheus.devices = [one];
    await scene.next({ a: {} });
    expect(asked()).toEqual([]);
  });

  it('costs no query without replicas', async () => {
    scene = new PassScene();
    scene.prometheus.devices = [device('a', 'eth0', { rate: TOO_FAST })];
    expect((await scene.next({ a: {} })).nodes.get('a')).toMatchObject({ reason: 'InvalidSample' });
    expect(scene.prometheus.count('rates')).toBe(1);
  });

  it('of many nodes costs queries of 16 KiB: VictoriaMetrics refuses longer ones', async () => {
    const names = Array.from({ length: 300 }, (_, n) => `ip-10-0-0-${n}.eu-central-1.compute.internal`);
    scene.prometheus.devices = names.map((name) => device(name, 'eth0', { rate: TOO_FAST }));
    otherReplica({ rate: '7' });
    const { nodes } = await scene.next(Object.fromEntries(names.map((name) => [name, {}])));
    expect([...nodes.values()].filter(({ percent }) => percent !== 7)).toEqual([]);
    expect(asked().filter((expression) => expression.length > 16 * 1024)).toEqual([]);
  });
});
