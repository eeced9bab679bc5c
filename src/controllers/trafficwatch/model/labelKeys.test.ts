import { describe, expect, it } from 'vitest';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { aWatch, KEY } from '../testing/observations.ts';
import { claimedKeys, labelKeysOf } from './labelKeys.ts';

const OLD = 'old.traffic.example.com/unfit';
const LEGACY = 'web.traffic.example.com/unfit';

describe('labelKeysOf', () => {
  it('has a previous key only while spec and status differ', () => {
    const settled = { spec: KEY, native: KEY, inUse: KEY, previous: undefined, claimed: [KEY] };
    expect(labelKeysOf(aWatch())).toEqual({ ...settled, inUse: undefined });
    expect(labelKeysOf(aWatch({ status: { labelKey: KEY } }))).toEqual(settled);
    const renaming = { spec: KEY, native: KEY, inUse: OLD, previous: OLD, claimed: [KEY, OLD] };
    expect(labelKeysOf(aWatch({ status: { labelKey: OLD } }))).toEqual(renaming);
  });

  it('has only the key of the status without a readable spec', () => {
    const watch = { metadata: { name: 'web' }, spec: null, status: { labelKey: OLD } } as unknown as TrafficWatch;
    expect(labelKeysOf(watch)).toEqual({
      spec: undefined,
      native: undefined,
      inUse: OLD,
      previous: OLD,
      claimed: [OLD],
    });
  });

  it('has the legacy key in use with a status of PKopel/traffic-operator, also before this operator has written one', () => {
    const watch = aWatch({ status: { ready: true, nodes: {} } });
    expect(labelKeysOf(watch)).toEqual({
      spec: LEGACY,
      native: KEY,
      inUse: LEGACY,
      previous: undefined,
      claimed: [LEGACY],
    });
    // An older CRD may have taken the label key from the status: no label of either key may be swept.
    expect(claimedKeys(watch)).toEqual([LEGACY, KEY]);
  });

  it('claims no key without the suffix of the operator', () => {
    expect(labelKeysOf(aWatch({ status: { labelKey: 'kubernetes.io/hostname' } })).claimed).toEqual([KEY]);
  });
});
