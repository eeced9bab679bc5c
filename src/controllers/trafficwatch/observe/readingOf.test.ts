import { describe, expect, it } from 'vitest';
import type { TrafficWatchSpec } from '../../../api/trafficwatch/schema.ts';
import { DEFAULT_KEY, readingKey } from '../../../usage/evaluate/reading.ts';
import { aWatch } from '../testing/observations.ts';
import { readingOf } from './readingOf.ts';

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

  it('leaves out what another CRD let through: such a TrafficWatch is Stalled, and the passes of others go on', () => {
    for (const spec of [
      { direction: 'Up', measure: 'Mean', devices: { include: '(', exclude: 7 } },
      { devices: null },
    ]) {
      expect(readingKey(of(spec))).toBe(DEFAULT_KEY);
    }
  });
});
