import { describe, expect, it } from 'vitest';
import { TWO_PASSES, usage } from '../../testing/observations.ts';
import type { NodeVerdict } from './nodeVerdict.ts';
import {
  labelStands,
  noFigure,
  passesAgree,
  passFailed,
  undecided,
  PLAIN_POLICIES,
  POLICIES,
  type VerdictInput,
} from './policies.ts';

const measured = (...percents: (number | undefined)[]): Pick<VerdictInput, 'passes'> => ({
  passes: percents.map((percent) => usage('n1', percent)),
});
const input = (changes: Partial<VerdictInput>): VerdictInput => ({
  maxPercent: 10,
  passes: [],
  labelled: undefined,
  passError: undefined,
  passesToAgree: TWO_PASSES,
  ...changes,
});
const PASS_ERROR = { reason: 'PrometheusDeadline', message: 'too slow' };
const reasonOf = (verdict: NodeVerdict | undefined): string | undefined => verdict?.reason;

describe('a policy does not apply', () => {
  it.each([
    ['passFailed to a successful pass', passFailed, input(measured(undefined))],
    ['noFigure to a node with a figure, even 0', noFigure, input(measured(0))],
    ['passesAgree to passes on both sides', passesAgree, input(measured(11, 10))],
    ['passesAgree to the first pass', passesAgree, input(measured(11))],
    ['passesAgree if the previous pass has no figure', passesAgree, input(measured(11, undefined))],
    ['labelStands to a node without a label', labelStands, input(measured(11, 1))],
  ])('%s', (_what, policy, given) => {
    expect(policy(given)).toBeUndefined();
  });
});

describe('POLICIES', () => {
  it('reports a failed pass rather than the missing figure of the node', () => {
    const given = input({ passError: PASS_ERROR, passes: [undefined, usage('n1', 20)] });
    expect(POLICIES.map((policy) => reasonOf(policy(given))).find(Boolean)).toBe('PrometheusDeadline');
  });

  it('follows two passes that agree rather than the label', () => {
    expect(POLICIES.indexOf(passesAgree)).toBeLessThan(POLICIES.indexOf(labelStands));
  });

  it('are plain without those that need minHold, missingData or a window that fills', () => {
    expect(PLAIN_POLICIES).toEqual([passFailed, noFigure, passesAgree, labelStands, undecided]);
  });

  it('ends with a policy that applies to every node', () => {
    expect(POLICIES.at(-1)).toBe(undecided);
    const every = [input({}), input(measured(1)), input(measured(1, 20)), input({ passError: PASS_ERROR })];
    expect(every.map((given) => reasonOf(undecided(given)))).toEqual([
      'FirstPass',
      'FirstPass',
      'PassesDisagree',
      'FirstPass',
    ]);
  });

  it('ignores passes older than those that must agree', () => {
    expect(passesAgree(input(measured(20, 20, 1, 1)))).toMatchObject({ verdict: 'Unfit' });
  });
});
