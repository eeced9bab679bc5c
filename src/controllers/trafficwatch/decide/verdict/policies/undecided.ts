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
export const undecided: Policy = ({ passes }) =>
  passes[1]?.percent === undefined
    ? unknown('FirstPass', 'measured in one pass; the verdict needs two in a row')
    : unknown(
        'PassesDisagree',
        'two passes were on different sides of the threshold; the verdict needs two passes that agree',
      );
