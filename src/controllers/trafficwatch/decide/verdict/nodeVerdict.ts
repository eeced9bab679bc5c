import type { Verdict } from '../../../../api/trafficwatch/schema.ts';
import type { Side } from './side.ts';

/** What was decided of one node, and why. */
export interface NodeVerdict {
  readonly verdict: Verdict;
  /** CamelCase, such as AboveThreshold. */
  readonly reason: string;
  readonly message: string;
  /** The side that the label of the node should stand for; undefined means that the label stays as it is. */
  readonly side: Side | undefined;
}

/** The verdict of a node that cannot be decided: its label stays as it is. */
export function unknown(reason: string, message: string): NodeVerdict {
  return { verdict: 'Unknown', reason, message, side: undefined };
}

/** The verdict of a node on this side of the threshold. */
export function settled(side: Side, reason: string, message: string): NodeVerdict {
  return { verdict: side === 'above' ? 'Unfit' : 'Fit', reason, message, side };
}
