import { settled, type NodeVerdict } from '../nodeVerdict.ts';
import type { Policy } from '../policy.ts';

/** Reason of a node that counts as unfit without a figure. */
export const NO_DATA_UNFIT = 'NoDataUnfit';
/** Reason of a node that counts as fit without a figure. */
export const NO_DATA_FIT = 'NoDataFit';

const UNFIT = settled('above', NO_DATA_UNFIT, 'no figure for longer than missingData.holdFor: it counts as unfit');
const FIT = settled('notAbove', NO_DATA_FIT, 'no figure for longer than missingData.holdFor: it counts as fit');

/**
 * Gives a node without a figure the verdict of missingData.policy after missingData.holdFor.
 *
 * | missingData.policy | figure in the newest pass | node can be measured | without a figure for | verdict        |
 * |--------------------|---------------------------|----------------------|----------------------|----------------|
 * | Hold               | any                       | any                  | any                  | does not apply |
 * | any                | yes                       | any                  | any                  | does not apply |
 * | any                | no                        | no                   | any                  | does not apply |
 * | any                | no                        | yes                  | less than holdFor    | does not apply |
 * | Unfit              | no                        | yes                  | holdFor or longer    | Unfit: NoDataUnfit |
 * | Fit                | no                        | yes                  | holdFor or longer    | Fit: NoDataFit |
 *
 * A failed pass never comes this far. A pass without a figure of any node, or with a warning that it may be partial, does
 * not set missingAs: neither says anything about a single node.
 */
export const missingData: Policy = ({ missingAs, passes, notMeasurable }): NodeVerdict | undefined => {
  if (missingAs === undefined || passes[0]?.percent !== undefined || notMeasurable !== undefined) return undefined;
  return missingAs === 'above' ? UNFIT : FIT;
};
