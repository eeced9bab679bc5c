import { describe, expect, it } from 'vitest';
import { aClaim, anObservation, aWatch, KEY } from '../../testing/observations.ts';
import { statusOf } from '../../testing/settled.ts';
import { decidePlan } from '../decidePlan.ts';

describe('a label key of an earlier version', () => {
  const LEGACY = 'web.traffic.example.com/unfit';
  const watch = aWatch({ status: { ready: true, decided: true, labelKey: LEGACY } });
  const younger = aClaim({ creationTimestamp: '2026-01-01T00:05:00.000Z', key: 'traffic/web' });

  it('stays with the TrafficWatch that has it: no rename', () => {
    const nodes = { n1: { [LEGACY]: 'false' }, n2: { [LEGACY]: 'false' } };
    const plan = decidePlan(anObservation({ watch, nodes }));
    expect(plan).toMatchObject({ labelKey: LEGACY, renaming: false, stall: undefined });
    expect(plan.labels.size).toBe(0);
  });

  it('goes to a younger TrafficWatch whose namespace is in it; this one says so, and is no longer Ready', () => {
    const o = anObservation({ watch, claims: new Map([[LEGACY, [younger]]]) });
    expect(decidePlan(o).stall?.message).toMatch(
      /^label key web\.traffic\.example\.com\/unfit belongs to TrafficWatch traffic\/web, whose namespace is in the key; .* or spec\.label changes$/,
    );
    expect(decidePlan(o).labels.size).toBe(0);
    expect(statusOf(o).ready).toBe(false);
  });

  it('is not taken by a younger TrafficWatch that has it from an earlier version, too', () => {
    const claims = new Map([[LEGACY, [{ ...younger, isNative: false }]]]);
    expect(decidePlan(anObservation({ watch, claims })).stall).toBeUndefined();
  });

  it('does not take the key of a TrafficWatch whose namespace is in it, however old its own is', () => {
    const old = aClaim({ isNative: false });
    expect(decidePlan(anObservation({ claims: new Map([[KEY, [old]]]) })).stall).toBeUndefined();
  });
});
