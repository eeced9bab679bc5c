import type { Verdict } from '../../../../api/trafficwatch/nodeStatus.ts';
import { isNotMeasurable } from '../../../../nodes/notMeasurable.ts';
import type { NodeVerdict } from './nodeVerdict.ts';

/** The number of nodes for each verdict. */
export interface VerdictCounts extends Readonly<Record<Verdict, number>> {
  /** The number of Unknown nodes that cannot be measured. */
  readonly NotMeasurable: number;
}

/** Counts the nodes by verdict. */
export function countVerdicts(verdicts: readonly Pick<NodeVerdict, 'verdict' | 'reason'>[]): VerdictCounts {
  const counts = { Fit: 0, Unfit: 0, Unknown: 0, NotMeasurable: 0 };
  for (const { verdict, reason } of verdicts) {
    counts[verdict] += 1;
    if (verdict === 'Unknown' && isNotMeasurable(reason)) counts.NotMeasurable += 1;
  }
  return counts;
}
