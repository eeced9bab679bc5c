import type { NotMeasurable } from '../../../../nodes/notMeasurable.ts';
import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';
import type { NodeVerdict } from './nodeVerdict.ts';
import type { Side } from './side.ts';

/** What is known of one node when its verdict is due. */
export interface VerdictInput {
  /** Percent of the capacity above which a node is unfit. */
  readonly maxPercent: number;
  /** Usage in the last passes, newest first; undefined where a pass failed or does not know the node. */
  readonly passes: readonly (NodeUsage | undefined)[];
  /** The side that the label of the node stands for: the verdict before this one. Undefined when there is none. */
  readonly labelled: Side | undefined;
  /** Why there can be no figure of the node; undefined where there should be one. */
  readonly notMeasurable?: NotMeasurable | undefined;
  /** Why the newest pass as a whole failed, if it did. */
  readonly passError: { readonly reason: string; readonly message: string } | undefined;
}

/** One rule of the verdict. Pure. Undefined means that the rule does not apply and the next policy is asked. */
export type Policy = (input: VerdictInput) => NodeVerdict | undefined;
