import { describe, expect, it } from 'vitest';
import {
  findCondition,
  setCondition,
  type Condition,
  terminatingConditions,
  cut,
  conditionEvents,
  STANDARD_TYPES,
  type ConditionRules,
} from './conditions.ts';

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

const AT = Date.parse('2026-01-01T00:00:00Z');
const lastTransitionTime = '2025-01-01T00:00:00Z';
const live = (status: 'True' | 'False') => ({
  metadata: { name: 'web', generation: 2, finalizers: ['a.example.com/x', 'foregroundDeletion'] },
  status: {
    conditions: [
      { type: 'Ready', status, reason: 'Decided', message: '', lastTransitionTime },
      { type: 'Stalled', status: 'False' as const, reason: 'NotStalled', message: '', lastTransitionTime },
    ],
  },
});

it('changes only Ready, and names what the deletion waits for', () => {
  const ready = { type: 'Ready', status: 'False', reason: 'Terminating', observedGeneration: 2 };
  const message = 'being deleted: waiting for finalizers a.example.com/x, foregroundDeletion';
  const [, stalled] = live('True').status.conditions;
  expect(terminatingConditions(live('True'), AT)).toEqual([
    { ...ready, message, lastTransitionTime: '2026-01-01T00:00:00Z' },
    stalled,
  ]);
  expect(terminatingConditions(live('False'), AT, 'busy')).toEqual([
    { ...ready, message: 'busy', lastTransitionTime },
    stalled,
  ]);
});

it.each([
  ['', 3, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['a\u{1f600}b', 3, 'a\ufffd…'],
])('cuts %j to %i characters', (text, most, wanted) => {
  expect(cut(text, most)).toBe(wanted);
});

const RULES: ConditionRules = {
  types: {
    ...STANDARD_TYPES,
    Reachable: { healthy: 'True', whileUnhealthy: 'nothing' },
    Complete: { healthy: 'True' },
  },
  silent: new Set(['Progressing']),
};

/** 'Ready True AllGood', with a message that is the reason unless told. */
function condition(text: string, message?: string, observedGeneration = 1): Condition {
  const [type = '', status, reason = ''] = text.split(' ');
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  return { type, status, reason, message: message ?? reason, observedGeneration, lastTransitionTime } as Condition;
}

const events = (was: Condition | undefined, now: Condition) =>
  conditionEvents(was && [was], [now], RULES).map(({ type, reason, note }) => `${type} ${reason}: ${note}`);

describe('conditionEvents', () => {
  it.each([
    ['the first state of Ready, since somebody waits for it', undefined, 'Ready True Good', ['Normal']],
    ['the first state of another that is healthy, which is no news', undefined, 'Complete True All', []],
    ['one that becomes healthy from Unknown, likewise', 'Complete Unknown New', 'Complete True All', []],
    ['a first unhealthy state', undefined, 'Complete False Part', ['Warning']],
    ['one that fails', 'Complete True All', 'Complete False Part', ['Warning']],
    ['one that is healthy again', 'Complete False Part', 'Complete True All', ['Normal']],
    ['one whose healthy status is False', 'Stalled True Bad', 'Stalled False Good', ['Normal']],
    ['another reason of what fails', 'Complete False Part', 'Complete False None', ['Warning']],
    ['another reason within one outage', 'Reachable False Deadline', 'Reachable False Refused', []],
    ['another reason of what is healthy', 'Complete True All', 'Complete True Most', []],
    ['another reason of Ready', 'Ready True Good', 'Ready True Better', ['Normal']],
    ['what is as it was', 'Complete False Part', 'Complete False Part', []],
    ['plain progress', 'Ready True Good', 'Ready False Progressing', []],
    ['what is not known', 'Ready True Good', 'Ready Unknown Lost', []],
    ['a type that has no rule', undefined, 'Other False Bad', []],
  ])('of %s', (_why, was, now, expected) => {
    const types = events(was === undefined ? undefined : condition(was), condition(now)).map((e) => e.split(' ')[0]);
    expect(types).toEqual(expected);
  });

  it('has the reason and message of the condition, and its type', () => {
    expect(events(undefined, condition('Ready False Broken', 'no power'))).toEqual(['Warning Broken: Ready: no power']);
  });

  it('of what is wrong with a spec comes again only for another message about another generation', () => {
    const stalled = (message: string, generation: number) => condition('Stalled True Invalid', message, generation);
    const was = stalled('size: -3', 2);
    const counts = [stalled('size: -3 (request 17)', 2), stalled('size: -3', 3), stalled('image: none', 3)].map(
      (now) => events(was, now).length,
    );
    expect(counts).toEqual([0, 0, 1]);
  });
});
