import { settled } from '../nodeVerdict.ts';
import type { Policy } from '../policy.ts';
import { missingData } from './missingData.ts';
import { noFigure } from './noFigure.ts';
import { passesAgree } from './passesAgree.ts';
import { warmingUp } from './warmingUp.ts';

/** Reason of a node whose verdict minHold keeps. */
export const HELD_BY_MIN_HOLD = 'HeldByMinHold';

/** The policies that can change a label, in their order, and those that end before one of them does. */
const CHANGING: readonly Policy[] = [missingData, noFigure, warmingUp, passesAgree];

/**
 * Keeps the verdict of the label until minHold has passed since the label changed.
 *
 * | label | may change          | next policies decide | verdict                             |
 * |-------|---------------------|----------------------|-------------------------------------|
 * | any   | now                 | any                  | does not apply                      |
 * | none  | any                 | any                  | does not apply: nothing to hold     |
 * | any   | later, by minHold   | the same side, or none | does not apply                    |
 * | any   | later, by minHold   | the other side       | as the label: HeldByMinHold         |
 */
export const heldByMinHold: Policy = (input) => {
  const { heldUntil, labelled } = input;
  if (heldUntil === undefined || labelled === undefined) return undefined;
  const side = sideOfNext(input);
  if (side === undefined || side === labelled) return undefined;
  // The absolute time, which is the same in each pass.
  const message = `the label changed less than minHold ago; it may change at ${new Date(heldUntil).toISOString()}`;
  return settled(labelled, HELD_BY_MIN_HOLD, message);
};

function sideOfNext(input: Parameters<Policy>[0]) {
  for (const policy of CHANGING) {
    const verdict = policy(input);
    if (verdict !== undefined) return verdict.side;
  }
  return undefined;
}
