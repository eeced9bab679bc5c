import { describe, expect, it, vi } from 'vitest';
import type { TrafficWatchSpec } from '../../../../api/trafficwatch/schema.ts';
import { DEFAULT_KEY, readingKey } from '../../../../usage/evaluate/reading.ts';
import { trimNode, type CachedNode } from '../../../../nodes/cachedNode.ts';
import { aWatch } from '../../testing/observations.ts';
import { readingOf, specCapacitiesOf } from './readingOf.ts';
import { capacitySchema, type CapacityEntry } from '../../../../api/trafficwatch/spec/capacity.ts';
import { parseCapacity } from '../../../../usage/evaluate/capacity.ts';

const nodeOf = () => trimNode('mine')({ metadata: { name: 'n1', labels: { pool: 'big' } } });
const of = (spec: object) => readingOf({ spec: { ...aWatch().spec, ...spec } }, nodeOf);

describe('readingOf', () => {
  it('is the default one for a spec without its fields, and without a spec', () => {
    expect(readingKey(of({}))).toBe(DEFAULT_KEY);
    expect(readingKey(of({ devices: {} }))).toBe(DEFAULT_KEY);
    expect(readingKey(of({ capacity: [] }))).toBe(DEFAULT_KEY);
    expect(readingKey(readingOf({ spec: undefined as unknown as TrafficWatchSpec }, nodeOf))).toBe(DEFAULT_KEY);
  });

  it('has each field of the spec', () => {
    const fields = { direction: 'Max', measure: 'Fullest', devices: { include: 'eth.*', exclude: 'eth1' } };
    expect(of(fields)).toEqual({ direction: 'Max', measure: 'Fullest', include: 'eth.*', exclude: 'eth1' });
  });

  it('has the capacities of the spec, and is the same only with the same ones', () => {
    const big = { nodeSelector: { matchLabels: { pool: 'big' } }, value: '25Gbit' };
    expect(of({ capacity: [big] }).capacities?.of('n1')).toMatchObject({ source: 'Spec', text: '25Gbit' });
    const specs = [
      {},
      { capacity: [big] },
      { capacity: [{ ...big, value: '10Gbit' }] },
      { capacity: [big, { value: '1Gbit' }] },
    ];
    expect(new Set([...specs, ...structuredClone(specs)].map((spec) => readingKey(of(spec)))).size).toBe(specs.length);
  });

  it('leaves out what is of another type: another CRD may have let it through', () => {
    for (const spec of [
      { direction: 'Up', measure: 'Mean', devices: { include: [], exclude: 7 } },
      { devices: null },
      { capacity: [{ value: 'fast' }] },
      { capacity: null },
      { capacity: '25Gbit' },
    ]) {
      expect(readingKey(of(spec))).toBe(DEFAULT_KEY);
    }
  });
});

const HOSTNAME = 'kubernetes.io/hostname';
const pool = (name: string, value: string): CapacityEntry => ({ nodeSelector: { matchLabels: { pool: name } }, value });
const host = (values: string[], value: string): CapacityEntry => ({
  nodeSelector: { matchExpressions: [{ key: HOSTNAME, operator: 'In', values }] },
  value,
});

const specOf = (...capacity: CapacityEntry[]) => ({ ...aWatch().spec, capacity }) as TrafficWatchSpec;

/** Nodes whose labels a test changes. */
class Cluster {
  readonly #trim = trimNode('mine');
  readonly #nodes = new Map<string, CachedNode>();

  set(name: string, labels: Record<string, string>): void {
    this.#nodes.set(name, this.#trim({ metadata: { name, labels: { [HOSTNAME]: name, ...labels } } }));
  }

  remove(name: string): void {
    this.#nodes.delete(name);
  }

  /** Nodes with the same labels share the array. */
  labelKeys(name: string): string[] {
    return this.#nodes.get(name)!.otherLabels.keys as string[];
  }

  capacities(...capacity: CapacityEntry[]) {
    const stated = specCapacitiesOf(specOf(...capacity), (name) => this.#nodes.get(name));
    return (node: string): string | undefined => stated?.of(node)?.text;
  }
}

describe('specCapacitiesOf', () => {
  it.each<[why: string, entries: CapacityEntry[], labels: Record<string, string>, expected: string | undefined]>([
    [
      'the first entry that matches counts',
      [pool('a', '1Gbit'), pool('b', '2Gbit'), { value: '3Gbit' }],
      { pool: 'b' },
      '2Gbit',
    ],
    ['also if a later one matches, too', [pool('a', '1Gbit'), { value: '3Gbit' }], { pool: 'a' }, '1Gbit'],
    ['an entry without a selector matches every node', [pool('a', '1Gbit'), { value: '3Gbit' }], {}, '3Gbit'],
    ['an empty selector as well', [{ nodeSelector: {}, value: '3Gbit' }], { pool: 'a' }, '3Gbit'],
    ['no entry matches: the other sources count', [pool('a', '1Gbit')], { pool: 'b' }, undefined],
    ['a selector can name the host', [host(['x', 'n1'], '1Gbit'), { value: '3Gbit' }], {}, '1Gbit'],
    ['another host does not match', [host(['n2'], '1Gbit'), { value: '3Gbit' }], {}, '3Gbit'],
  ])('%s', (_why, entries, labels, expected) => {
    const cluster = new Cluster();
    cluster.set('n1', labels);
    expect(cluster.capacities(...entries)('n1')).toBe(expected);
  });

  it('says which field states the capacity', () => {
    const stated = specCapacitiesOf(specOf(pool('a', '1Gbit'), { value: '3Gbit' }), () =>
      trimNode('mine')({ metadata: { name: 'n1' } }),
    );
    expect(stated?.of('n1')).toEqual({ source: 'Spec', key: 'spec.capacity[1].value', text: '3Gbit' });
  });

  it('tells hosts with the same labels apart, and knows a Node without the hostname label', () => {
    const cluster = new Cluster();
    for (const name of ['n1', 'n2', 'n3']) cluster.set(name, { pool: 'a' });
    const of = cluster.capacities(
      host(['n2'], '2Gbit'),
      {
        nodeSelector: { matchExpressions: [{ key: HOSTNAME, operator: 'Exists' }] },
        value: '3Gbit',
      },
      { value: '4Gbit' },
    );
    const stranger = specCapacitiesOf(specOf(host(['n2'], '2Gbit'), { value: '4Gbit' }), () =>
      trimNode('mine')({ metadata: { name: 'n9', labels: { pool: 'a' } } }),
    );
    expect(['n1', 'n2', 'n3', 'n1', 'n2'].map(of)).toEqual(['3Gbit', '2Gbit', '3Gbit', '3Gbit', '2Gbit']);
    expect(stranger?.of('n9')?.text).toBe('4Gbit');
  });

  it('follows the labels of a Node, and states nothing about a Node that is gone', () => {
    const cluster = new Cluster();
    const of = cluster.capacities(pool('a', '1Gbit'), pool('b', '2Gbit'));
    const seen = ['a', 'b', 'c', 'a'].map((name) => {
      cluster.set('n1', { pool: name });
      return of('n1');
    });
    expect(seen).toEqual(['1Gbit', '2Gbit', undefined, '1Gbit']);
    cluster.remove('n1');
    expect(of('n1')).toBeUndefined();
  });

  it('matches nodes with the same labels once, and again only when labels change', () => {
    const cluster = new Cluster();
    const names = Array.from({ length: 100 }, (_, n) => `n${n}`);
    for (const name of names) cluster.set(name, { pool: 'a' });
    const of = cluster.capacities(host(['n7'], '1Gbit'), pool('a', '2Gbit'));
    const lookUps = vi.spyOn(cluster.labelKeys('n1'), 'indexOf');
    for (let pass = 0; pass < 3; pass += 1) names.forEach(of);
    expect(lookUps).toHaveBeenCalledTimes(1);
    cluster.set('n5', { pool: 'b' });
    names.forEach(of);
    expect(lookUps).toHaveBeenCalledTimes(2);
  });

  it.each([
    '1bit',
    '0.5kbit',
    '2.5Gbit/s',
    '800 Mbit',
    '99999999999999999999999999Tbit',
    '0.00000000000000000000001bit',
  ])('the feed reads the value %s that the API server accepts', (value) => {
    expect(capacitySchema.safeParse([{ value }]).success).toBe(true);
    expect(parseCapacity(value)).toHaveProperty('bytesPerSecond');
  });
});
