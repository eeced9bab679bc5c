import type { NotMeasurable } from '../../../../nodes/notMeasurable.ts';
import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';
import type { NodeVerdict } from './nodeVerdict.ts';
import type { Side } from '../../model/label.ts';

/** The input for the verdict of one node. */
export interface VerdictInput {
  /** Percent of the capacity above which a node is unfit. */
  readonly maxPercent: number;
  /** Percent of the capacity at or below which an unfit node is fit again; undefined if it equals maxPercent. */
  readonly recoverPercent?: number | undefined;
  /** How many passes in a row must agree. */
  readonly passesToAgree: PassesToAgree;
  /** Usage in the last passes, newest first; undefined if the pass failed or has no series of the node. */
  readonly passes: readonly (NodeUsage | undefined)[];
  /** The side that the label of the node stands for: the previous verdict. Undefined without a label. */
  readonly labelled: Side | undefined;
  /** Why the node cannot be measured; undefined if it should have a figure. */
  readonly notMeasurable?: NotMeasurable | undefined;
  /**
   * Until when the label stays whatever the passes say, by minHold: ms since the epoch. Undefined if it may change now.
   */
  readonly heldUntil?: number | undefined;
  /**
   * The side that the node counts for, because it has had no figure for missingData.holdFor; undefined otherwise. Looked
   * up only for nodes without a figure.
   */
  readonly missingAs?: Side | undefined;
  /** True while the rate window is only partly filled after an outage of the measurement. */
  readonly isWindowFilling?: boolean | undefined;
  /** Why the newest pass failed; undefined if it succeeded. */
  readonly passError: { readonly reason: string; readonly message: string } | undefined;
}

/** How many passes in a row it takes for each verdict; at least 1. */
export interface PassesToAgree {
  readonly unfit: number;
  readonly fit: number;
}

/** One rule of the verdict. Pure. Returns undefined if the rule does not apply; the next policy is called then. */
export type Policy = (input: VerdictInput) => NodeVerdict | undefined;
