import { aboveThreshold } from '../aboveThreshold.ts';
import { settled } from '../nodeVerdict.ts';
import type { Policy } from '../policy.ts';
import { sideOf } from '../side.ts';

/** Many nodes have this verdict after a restart. They share one object. */
const BELOW_AS_LABELLED = settled('notAbove', 'BelowThreshold', 'not above the threshold, as the label says');

/**
 * Keeps the verdict that the label of the node holds.
 *
 * | label | newest pass | verdict                                 |
 * |-------|-------------|-----------------------------------------|
 * | none  | any         | does not apply                          |
 * | any   | same side   | that of the label                       |
 * | any   | other side  | that of the label: AwaitingSecondPass   |
 */
export const labelStands: Policy = ({ passes, maxPercent, labelled }) => {
  if (labelled === undefined) return undefined;
  const newest = passes[0];
  if (sideOf(newest, maxPercent) !== labelled) {
    return settled(
      labelled,
      'AwaitingSecondPass',
      'one pass contradicts the label; the label changes if the next pass does too',
    );
  }
  return labelled === 'above'
    ? aboveThreshold('above the threshold, as the label says', newest, maxPercent)
    : BELOW_AS_LABELLED;
};
