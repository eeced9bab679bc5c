import { aboveThreshold } from '../aboveThreshold.ts';
import { settled } from '../nodeVerdict.ts';
import type { Policy } from '../policy.ts';
import { sideOf } from '../side.ts';

/** What many nodes get after a restart: one object for all of them. */
const BELOW_AS_LABELLED = settled('notAbove', 'BelowThreshold', 'not above the threshold, as the label says');

/**
 * Keeps the verdict that the label of the node stands for.
 *
 * | label | newest pass    | then                              |
 * |-------|----------------|-----------------------------------|
 * | none  | any            | does not apply                    |
 * | there | same side      | as the label                      |
 * | there | other side     | as the label: AwaitingSecondPass  |
 */
export const labelStands: Policy = ({ passes, maxPercent, labelled }) => {
  if (labelled === undefined) return undefined;
  const newest = passes[0];
  if (sideOf(newest, maxPercent) !== labelled) {
    return settled(labelled, 'AwaitingSecondPass', 'one pass differs from the label; a second one would change it');
  }
  return labelled === 'above'
    ? aboveThreshold('above the threshold, as the label says', newest, maxPercent)
    : BELOW_AS_LABELLED;
};
