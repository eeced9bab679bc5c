import type { Verdict } from '../../../../api/trafficwatch/statusSchema.ts';
import type { Side } from '../../model/label.ts';
import { isNotMeasurable } from '../../../../nodes/notMeasurable.ts';

/** The verdict of one node, and why. */
export interface NodeVerdict {
  readonly verdict: Verdict;
  /** CamelCase, such as AboveThreshold. */
  readonly reason: string;
  readonly message: string;
  /** The side of the threshold to write to the label. Undefined: the label is unchanged. */
  readonly side: Side | undefined;
}

/** The verdict Unknown: the label of the node is unchanged. */
export function unknown(reason: string, message: string): NodeVerdict {
  return { verdict: 'Unknown', reason, message, side: undefined };
}

/** The verdict Unfit or Fit, for a node on this side of the threshold. */
export function settled(side: Side, reason: string, message: string): NodeVerdict {
  return { verdict: side === 'above' ? 'Unfit' : 'Fit', reason, message, side };
}

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
