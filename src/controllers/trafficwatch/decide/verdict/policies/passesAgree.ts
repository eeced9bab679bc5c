import { aboveThreshold } from '../aboveThreshold.ts';
import { settled } from '../nodeVerdict.ts';
import type { Policy } from '../policy.ts';
import { sideOf } from '../side.ts';

/** How many passes in a row must agree before a label is written for the first time, or changed. */
export const PASSES_TO_AGREE = 2;

/** Most nodes have this verdict in most passes. They share one object. */
const BELOW_TWICE = settled('notAbove', 'BelowThreshold', 'not above the threshold in two passes in a row');

/**
 * Decides if the newest passes have the node on the same side of the threshold, whatever its label says.
 *
 * | newest PASSES_TO_AGREE passes | verdict        |
 * |-------------------------------|----------------|
 * | all above                     | Unfit          |
 * | none above                    | Fit            |
 * | differ, or one has no figure  | does not apply |
 */
export const passesAgree: Policy = ({ passes, maxPercent }) => {
  const side = sideOf(passes[0], maxPercent);
  if (side === undefined) return undefined;
  for (let before = 1; before < PASSES_TO_AGREE; before += 1) {
    if (sideOf(passes[before], maxPercent) !== side) return undefined;
  }
  return side === 'above'
    ? aboveThreshold('above the threshold in two passes in a row', passes[0], maxPercent)
    : BELOW_TWICE;
};
