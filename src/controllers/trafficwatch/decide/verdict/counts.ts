import type { Verdict } from '../../../../api/trafficwatch/schema.ts';
import { isNotMeasurable } from '../../../../nodes/notMeasurable.ts';
import { once } from '../once.ts';
import type { NodeVerdict } from './nodeVerdict.ts';

type VerdictCounts = Readonly<Record<Verdict, number>>;

/** How many nodes got which verdict. */
export const countVerdicts = once((verdicts: readonly Pick<NodeVerdict, 'verdict'>[]): VerdictCounts => {
  const counts = { Fit: 0, Unfit: 0, Unknown: 0 };
  for (const { verdict } of verdicts) counts[verdict] += 1;
  return counts;
});

/** How many nodes are Unknown since there can be no figures of them. */
export const countNotMeasurable = once((verdicts: readonly Pick<NodeVerdict, 'reason'>[]): number => {
  let count = 0;
  for (const { reason } of verdicts) if (isNotMeasurable(reason)) count += 1;
  return count;
});
