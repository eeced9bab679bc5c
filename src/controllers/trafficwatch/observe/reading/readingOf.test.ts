import { describe, expect, it } from 'vitest';
import type { TrafficWatchSpec } from '../../../../api/trafficwatch/schema.ts';
import { DEFAULT_KEY, readingKey } from '../../../../usage/evaluate/reading.ts';
import { trimNode } from '../../../../nodes/cachedNode.ts';
import { aWatch } from '../../testing/observations.ts';
import { readingOf } from './readingOf.ts';

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
