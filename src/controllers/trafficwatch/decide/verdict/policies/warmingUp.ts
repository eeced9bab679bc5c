import { settled } from '../nodeVerdict.ts';
import type { Policy } from '../policy.ts';
import { passesAgree } from './passesAgree.ts';

/** Reason of a node that keeps its verdict until the rate window is full again. */
export const WARMING_UP = 'WarmingUp';

const MESSAGE =
  'figures are back after an outage of the measurement; the label stays until the rate window is full again';
const UNFIT = settled('above', WARMING_UP, MESSAGE);
const FIT = settled('notAbove', WARMING_UP, MESSAGE);

/**
 * Keeps the verdict of the label until the rate window is full again after an outage: until then, rates are of few scrapes.
 *
 * | rate window after an outage | label | passes agree on | verdict                       |
 * |-----------------------------|-------|-----------------|-------------------------------|
 * | full, or there was none     | any   | any             | does not apply                |
 * | filling                     | none  | any             | does not apply: the first verdict of a node, as for a new one |
 * | filling                     | any   | the same side, or nothing | does not apply      |
 * | filling                     | any   | the other side  | as the label: WarmingUp       |
 * | filling                     | written over by another client | any | does not apply: corrected at once |
 */
export const warmingUp: Policy = (input) => {
  const { isWindowFilling, labelled } = input;
  if (isWindowFilling !== true || labelled === undefined) return undefined;
  const side = passesAgree(input)?.side;
  if (side === undefined || side === labelled) return undefined;
  return labelled === 'above' ? UNFIT : FIT;
};
