import { unknown } from '../nodeVerdict.ts';
import type { Policy } from '../policy.ts';

/**
 * Unknown, for every node that no other policy decides.
 *
 * | pass before the newest | verdict                 |
 * |------------------------|-------------------------|
 * | no figure              | Unknown: FirstPass      |
 * | a figure               | Unknown: PassesDisagree |
 */
export const undecided: Policy = ({ passes, passesToAgree }) => {
  const needed = Math.max(passesToAgree.unfit, passesToAgree.fit);
  if (passes[1]?.percent === undefined) {
    return unknown('FirstPass', `measured in one pass; the verdict needs ${needed === 2 ? 'two' : needed} in a row`);
  }
  return needed === 2
    ? unknown(
        'PassesDisagree',
        'two passes were on different sides of the threshold; the verdict needs two passes that agree',
      )
    : unknown('PassesDisagree', `the last passes do not agree; the verdict needs ${needed} in a row that do`);
};
