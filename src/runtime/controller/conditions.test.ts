import { describe, expect, it } from 'vitest';
import { findCondition, setCondition, type Condition } from './conditions.ts';

const BEFORE = '2026-01-01T00:00:00Z';
const NOW = '2026-01-01T00:05:00Z';
const ready: Condition = {
  type: 'Ready',
  status: 'False',
  reason: 'Deciding',
  message: 'one pass',
  observedGeneration: 1,
  lastTransitionTime: BEFORE,
};
const stalled: Condition = { type: 'Stalled', status: 'False', reason: 'Ok', message: '', lastTransitionTime: BEFORE };

describe('setCondition', () => {
  it('moves the transition time when the status changes', () => {
    const [after] = setCondition([ready], { type: 'Ready', status: 'True', reason: 'Decided', message: '' }, NOW);
    expect(after).toEqual({ type: 'Ready', status: 'True', reason: 'Decided', message: '', lastTransitionTime: NOW });
  });

  it('keeps the transition time when only reason, message or generation change', () => {
    const next = { type: 'Ready', status: 'False', reason: 'NoSeries', message: 'two', observedGeneration: 2 } as const;
    expect(setCondition([ready], next, NOW)).toEqual([{ ...next, lastTransitionTime: BEFORE }]);
  });

  it('appends a new condition', () => {
    const next = { type: 'Stalled', status: 'True', reason: 'SelectorChanged', message: 'm' } as const;
    expect(setCondition([ready], next, NOW)).toEqual([ready, { ...next, lastTransitionTime: NOW }]);
  });

  it('keeps the order of the list and leaves the other conditions alone', () => {
    const after = setCondition([ready, stalled], { ...ready, status: 'Unknown' }, NOW);
    expect(after.map((condition) => condition.type)).toEqual(['Ready', 'Stalled']);
    expect(after[1]).toBe(stalled);
  });

  it('does not change its argument', () => {
    const given = Object.freeze([Object.freeze({ ...ready })]);
    setCondition(given, { ...ready, status: 'True' }, NOW);
    expect(given).toEqual([ready]);
  });
});

describe('findCondition', () => {
  it('finds by type', () => {
    expect(findCondition([ready, stalled], 'Stalled')).toBe(stalled);
    expect(findCondition(undefined, 'Ready')).toBeUndefined();
  });
});
