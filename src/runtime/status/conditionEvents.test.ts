import { describe, expect, it } from 'vitest';
import type { Condition } from '../controller/conditions.ts';
import { conditionEvents, STANDARD_TYPES, type ConditionRules } from './conditionEvents.ts';

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
