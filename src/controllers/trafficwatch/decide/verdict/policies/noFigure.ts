import { unknown } from '../nodeVerdict.ts';
import type { Policy } from '../policy.ts';

/**
 * Unknown if the newest pass has no figure for the node.
 *
 * | figure | node can be measured | usage in the newest pass | verdict                           |
 * |--------|----------------------|--------------------------|-----------------------------------|
 * | yes    | any                  | any                      | does not apply                    |
 * | no     | no                   | any                      | Unknown: why it cannot be measured |
 * | no     | yes                  | says why                 | Unknown: that reason              |
 * | no     | yes                  | none                     | Unknown: NoSeries                 |
 */
export const noFigure: Policy = ({ passes, notMeasurable }) => {
  const newest = passes[0];
  if (newest?.percent !== undefined) return undefined;
  if (notMeasurable !== undefined) return unknown(notMeasurable.reason, notMeasurable.message);
  return unknown(newest?.reason ?? 'NoSeries', newest?.message ?? 'Prometheus has no series of this node');
};
