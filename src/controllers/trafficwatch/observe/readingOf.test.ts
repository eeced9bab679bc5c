import { describe, expect, it } from 'vitest';
import type { TrafficWatchSpec } from '../../../api/trafficwatch/schema.ts';
import { DEFAULT_KEY, readingKey } from '../../../usage/evaluate/reading.ts';
import { aWatch } from '../testing/observations.ts';
import { readingOf, readingsOf } from './readingOf.ts';

const of = (spec: object) => readingOf({ spec: { ...aWatch().spec, ...spec } });

describe('readingOf', () => {
  it('is the default one for a spec without its fields, and without a spec', () => {
    expect(readingKey(of({}))).toBe(DEFAULT_KEY);
    expect(readingKey(of({ devices: {} }))).toBe(DEFAULT_KEY);
    expect(readingKey(readingOf({ spec: undefined as unknown as TrafficWatchSpec }))).toBe(DEFAULT_KEY);
  });

  it('has each field of the spec', () => {
    const fields = { direction: 'Max', measure: 'Fullest', devices: { include: 'eth.*', exclude: 'eth1' } };
    expect(of(fields)).toEqual({ direction: 'Max', measure: 'Fullest', include: 'eth.*', exclude: 'eth1' });
  });

  it('leaves out what is of another type: another CRD may have let it through', () => {
    for (const spec of [
      { direction: 'Up', measure: 'Mean', devices: { include: [], exclude: 7 } },
      { devices: null },
    ]) {
      expect(readingKey(of(spec))).toBe(DEFAULT_KEY);
    }
  });
});

describe('readingsOf', () => {
  it('leaves out a TrafficWatch with an invalid pattern, and has the others', () => {
    const watches = [
      { exclude: '(' },
      { include: '(?=a)' },
      { include: 'x'.repeat(257) },
      { include: 7 },
      { include: 'eth0' },
    ].map((devices) => ({ spec: { ...aWatch().spec, devices } as TrafficWatchSpec }));
    expect(readingsOf(watches).map(({ include }) => include)).toEqual(['eth0']);
  });
});
