import { aboveThreshold } from '../aboveThreshold.ts';
import { settled } from '../nodeVerdict.ts';
import type { Policy } from '../policy.ts';
import { sideOf } from '../../../model/label.ts';
import { thresholdFor } from '../threshold.ts';

/** Many nodes have this verdict after a restart. They share one object. */
const BELOW_AS_LABELLED = settled('notAbove', 'BelowThreshold', 'not above the threshold, as the label says');

/**
 * Keeps the verdict that the label of the node holds.
 *
 * | label | newest pass | verdict                                 |
 * |-------|-------------|-----------------------------------------|
 * | none  | any         | does not apply                          |
 * | any   | same side   | as the label                            |
 * | any   | other side  | as the label: AwaitingSecondPass        |
 */
export const labelStands: Policy = (input) => {
  const { passes, maxPercent, labelled, passesToAgree } = input;
  if (labelled === undefined) return undefined;
  const newest = passes[0];
  if (sideOf(newest, thresholdFor(input)) !== labelled) {
    const needed = labelled === 'above' ? passesToAgree.fit : passesToAgree.unfit;
    return settled(labelled, 'AwaitingSecondPass', contradiction(needed));
  }
  return labelled === 'above'
    ? aboveThreshold('above the threshold, as the label says', newest, maxPercent)
    : BELOW_AS_LABELLED;
};

function contradiction(needed: number): string {
  return needed === 2
    ? 'one pass contradicts the label; the label changes if the next pass does too'
    : `the newest pass contradicts the label; the label changes after ${needed} such passes in a row`;
}
