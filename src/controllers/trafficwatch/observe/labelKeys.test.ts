import { describe, expect, it } from 'vitest';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { aWatch, KEY } from '../testing/observations.ts';
import { labelKeysOf } from './labelKeys.ts';

const OLD = 'old.traffic.example.com/unfit';

describe('labelKeysOf', () => {
  it('has a previous key only while spec and status differ', () => {
    const settled = { spec: KEY, inUse: KEY, previous: undefined, claimed: [KEY] };
    expect(labelKeysOf(aWatch())).toEqual({ ...settled, inUse: undefined });
    expect(labelKeysOf(aWatch({ status: { labelKey: KEY } }))).toEqual(settled);
    const renaming = { spec: KEY, inUse: OLD, previous: OLD, claimed: [KEY, OLD] };
    expect(labelKeysOf(aWatch({ status: { labelKey: OLD } }))).toEqual(renaming);
  });

  it('has only the key of the status without a readable spec', () => {
    const watch = { metadata: { name: 'web' }, spec: null, status: { labelKey: OLD } } as unknown as TrafficWatch;
    expect(labelKeysOf(watch)).toEqual({ spec: undefined, inUse: OLD, previous: OLD, claimed: [OLD] });
  });

  it('claims no key without the suffix of the operator', () => {
    expect(labelKeysOf(aWatch({ status: { labelKey: 'kubernetes.io/hostname' } })).claimed).toEqual([KEY]);
  });
});
