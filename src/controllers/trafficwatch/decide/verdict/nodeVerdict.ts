import type { Verdict } from '../../../../api/trafficwatch/nodeStatus.ts';
import type { Side } from '../../model/label.ts';

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
