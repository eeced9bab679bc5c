import { MOST_PASSES } from '../../../../../api/trafficwatch/spec/passes.ts';
import { aboveThreshold } from '../aboveThreshold.ts';
import { settled, type NodeVerdict } from '../nodeVerdict.ts';
import type { Policy } from '../policy.ts';
import { sideOf } from '../../../model/label.ts';
import { thresholdFor } from '../threshold.ts';

/** Most nodes have this verdict in most passes. They share one object for each count. */
const BELOW: readonly NodeVerdict[] = Array.from({ length: MOST_PASSES + 1 }, (_, passes) =>
  settled('notAbove', 'BelowThreshold', `not above the threshold in ${inARow(passes)}`),
);

/**
 * Decides if enough of the newest passes have the node on the same side of the threshold, whatever its label says.
 *
 * | newest passes                                   | verdict        |
 * |-------------------------------------------------|----------------|
 * | passesToAgree.unfit passes above                | Unfit          |
 * | passesToAgree.fit passes not above              | Fit            |
 * | fewer, or one of them has no figure             | does not apply |
 *
 * The threshold depends on the label: see thresholdFor.
 */
export const passesAgree: Policy = (input) => {
  const { passes, maxPercent, passesToAgree } = input;
  const threshold = thresholdFor(input);
  const side = sideOf(passes[0], threshold);
  if (side === undefined) return undefined;
  const needed = side === 'above' ? passesToAgree.unfit : passesToAgree.fit;
  for (let before = 1; before < needed; before += 1) {
    if (sideOf(passes[before], threshold) !== side) return undefined;
  }
  return side === 'above'
    ? aboveThreshold(`above the threshold in ${inARow(needed)}`, passes[0], maxPercent)
    : BELOW[needed];
};

function inARow(passes: number): string {
  if (passes === 1) return 'the newest pass';
  return `${passes === 2 ? 'two' : passes} passes in a row`;
}
