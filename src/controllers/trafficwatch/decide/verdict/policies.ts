import type { NotMeasurable } from '../../../../nodes/notMeasurable.ts';
import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';
import { settled, unknown, type NodeVerdict } from './nodeVerdict.ts';
import { sideOf, type Side } from '../../model/label.ts';
import { describeDrop, isAboveForDrop } from '../../../../usage/evaluate/capacityDrop.ts';
import { MOST_PASSES } from '../../../../api/trafficwatch/spec/verdict.ts';

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
type Policy = (input: VerdictInput) => NodeVerdict | undefined;

/**
 * The percent that a pass is compared with, by the verdict that stands: hysteresis. A node becomes unfit above
 * maxBandwidthPercent, and fit again only at or below recoverBandwidthPercent.
 *
 * | label of the node | compared with           |
 * |-------------------|-------------------------|
 * | unfit             | recoverBandwidthPercent |
 * | fit, or none      | maxBandwidthPercent     |
 *
 * Between both, a node keeps its label. `recoverPercent` is undefined if both are the same.
 */
function thresholdFor({
  maxPercent,
  recoverPercent,
  labelled,
}: Pick<VerdictInput, 'maxPercent' | 'recoverPercent' | 'labelled'>): number {
  return labelled === 'above' && recoverPercent !== undefined ? recoverPercent : maxPercent;
}

/** Reason of an unfit node between recoverBandwidthPercent and maxBandwidthPercent. */
export const NOT_RECOVERED = 'NotRecovered';
const STAYS_UNFIT = settled(
  'above',
  NOT_RECOVERED,
  'not above maxBandwidthPercent, but above recoverBandwidthPercent (default: 80 % of it); it stays unfit',
);

/**
 * The verdict of an unfit node.
 *
 * | newest pass                                         | reason         |
 * |-----------------------------------------------------|----------------|
 * | at or below maxPercent                              | NotRecovered   |
 * | above, and only because the capacity of the node fell | CapacityFell: the network needs repair |
 * | above                                               | AboveThreshold |
 *
 * @param message why the node counts as above
 * @param usage the usage in the newest pass
 * @param maxPercent percent of the capacity
 */
function aboveThreshold(message: string, usage: NodeUsage | undefined, maxPercent: number): NodeVerdict {
  if (usage?.percent !== undefined && usage.percent <= maxPercent) return STAYS_UNFIT;
  if (!usage || !isAboveForDrop(usage, maxPercent)) return settled('above', 'AboveThreshold', message);
  return settled('above', 'CapacityFell', `${message}; ${describeDrop(usage) ?? ''}`);
}

/** Unknown, with the error of the newest pass, if that pass failed. */
export const passFailed: Policy = ({ passError }) => passError && unknown(passError.reason, passError.message);

/** Reason of a node that counts as unfit without a figure. */
export const NO_DATA_UNFIT = 'NoDataUnfit';
/** Reason of a node that counts as fit without a figure. */
export const NO_DATA_FIT = 'NoDataFit';

const UNFIT_WITHOUT_DATA = settled(
  'above',
  NO_DATA_UNFIT,
  'no figure for longer than missingData.holdFor: it counts as unfit',
);
const FIT_WITHOUT_DATA = settled(
  'notAbove',
  NO_DATA_FIT,
  'no figure for longer than missingData.holdFor: it counts as fit',
);

/**
 * Gives a node without a figure the verdict of missingData.policy after missingData.holdFor.
 *
 * | missingData.policy | figure in the newest pass | node can be measured | without a figure for | verdict        |
 * |--------------------|---------------------------|----------------------|----------------------|----------------|
 * | Hold               | any                       | any                  | any                  | does not apply |
 * | any                | yes                       | any                  | any                  | does not apply |
 * | any                | no                        | no                   | any                  | does not apply |
 * | any                | no                        | yes                  | less than holdFor    | does not apply |
 * | Unfit              | no                        | yes                  | holdFor or longer    | Unfit: NoDataUnfit |
 * | Fit                | no                        | yes                  | holdFor or longer    | Fit: NoDataFit |
 *
 * A failed pass never comes this far. A pass without a figure of any node, or with a warning that it may be partial, does
 * not set missingAs: neither says anything about a single node.
 */
const missingData: Policy = ({ missingAs, passes, notMeasurable }): NodeVerdict | undefined => {
  if (missingAs === undefined || passes[0]?.percent !== undefined || notMeasurable !== undefined) return undefined;
  return missingAs === 'above' ? UNFIT_WITHOUT_DATA : FIT_WITHOUT_DATA;
};

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

/** Most nodes have this verdict in most passes. They share one object for each count. */
const BELOW: readonly NodeVerdict[] = Array.from({ length: MOST_PASSES + 1 }, (_, passes) =>
  settled('notAbove', 'BelowThreshold', `not above the threshold in ${inARow(passes)}`),
);

/**
 * Decides if enough of the newest passes have the node on the same side of the threshold, whatever its label says.
 *
 * | newest passes                                   | verdict        |
 * |-------------------------------------------------|----------------|
 * | passesToAgree.unfit passes above                | Unfit          |
 * | passesToAgree.fit passes not above              | Fit            |
 * | fewer, or one of them has no figure             | does not apply |
 *
 * The threshold depends on the label: see thresholdFor.
 */
export const passesAgree: Policy = (input) => {
  const { passes, maxPercent, passesToAgree } = input;
  const threshold = thresholdFor(input);
  const side = sideOf(passes[0], threshold);
  if (side === undefined) return undefined;
  const needed = side === 'above' ? passesToAgree.unfit : passesToAgree.fit;
  for (let before = 1; before < needed; before += 1) {
    if (sideOf(passes[before], threshold) !== side) return undefined;
  }
  return side === 'above'
    ? aboveThreshold(`above the threshold in ${inARow(needed)}`, passes[0], maxPercent)
    : BELOW[needed];
};

function inARow(passes: number): string {
  if (passes === 1) return 'the newest pass';
  return `${passes === 2 ? 'two' : passes} passes in a row`;
}

/** Reason of a node that keeps its verdict until the rate window is full again. */
export const WARMING_UP = 'WarmingUp';

const WARMING_UP_MESSAGE =
  'figures are back after an outage of the measurement; the label stays until the rate window is full again';
const STILL_UNFIT = settled('above', WARMING_UP, WARMING_UP_MESSAGE);
const STILL_FIT = settled('notAbove', WARMING_UP, WARMING_UP_MESSAGE);

/**
 * Keeps the verdict of the label until the rate window is full again after an outage: until then, rates are of few scrapes.
 *
 * | rate window after an outage | label | passes agree on | verdict                       |
 * |-----------------------------|-------|-----------------|-------------------------------|
 * | full, or there was none     | any   | any             | does not apply                |
 * | filling                     | none  | any             | does not apply: the first verdict of a node, as for a new one |
 * | filling                     | any   | the same side, or nothing | does not apply      |
 * | filling                     | any   | the other side  | as the label: WarmingUp       |
 * | filling                     | written over by another client | any | does not apply: corrected at once |
 */
const warmingUp: Policy = (input) => {
  const { isWindowFilling, labelled } = input;
  if (isWindowFilling !== true || labelled === undefined) return undefined;
  const side = passesAgree(input)?.side;
  if (side === undefined || side === labelled) return undefined;
  return labelled === 'above' ? STILL_UNFIT : STILL_FIT;
};

/** Many nodes have this verdict after a restart. They share one object. */
const BELOW_AS_LABELLED = settled('notAbove', 'BelowThreshold', 'not above the threshold, as the label says');

/**
 * Keeps the verdict that the label of the node holds.
 *
 * | label | newest pass | verdict                                 |
 * |-------|-------------|-----------------------------------------|
 * | none  | any         | does not apply                          |
 * | any   | same side   | as the label                            |
 * | any   | other side  | as the label: AwaitingSecondPass        |
 */
export const labelStands: Policy = (input) => {
  const { passes, maxPercent, labelled, passesToAgree } = input;
  if (labelled === undefined) return undefined;
  const newest = passes[0];
  if (sideOf(newest, thresholdFor(input)) !== labelled) {
    const needed = labelled === 'above' ? passesToAgree.fit : passesToAgree.unfit;
    return settled(labelled, 'AwaitingSecondPass', contradiction(needed));
  }
  return labelled === 'above'
    ? aboveThreshold('above the threshold, as the label says', newest, maxPercent)
    : BELOW_AS_LABELLED;
};

function contradiction(needed: number): string {
  return needed === 2
    ? 'one pass contradicts the label; the label changes if the next pass does too'
    : `the newest pass contradicts the label; the label changes after ${needed} such passes in a row`;
}

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

/** Reason of a node whose verdict minHold keeps. */
export const HELD_BY_MIN_HOLD = 'HeldByMinHold';

/** The policies that can change a label, in their order, and those that end before one of them does. */
const CHANGING: readonly Policy[] = [missingData, noFigure, warmingUp, passesAgree];

/**
 * Keeps the verdict of the label until minHold has passed since the label changed.
 *
 * | label | may change          | next policies decide | verdict                             |
 * |-------|---------------------|----------------------|-------------------------------------|
 * | any   | now                 | any                  | does not apply                      |
 * | none  | any                 | any                  | does not apply: nothing to hold     |
 * | any   | later, by minHold   | the same side, or none | does not apply                    |
 * | any   | later, by minHold   | the other side       | as the label: HeldByMinHold         |
 */
const heldByMinHold: Policy = (input) => {
  const { heldUntil, labelled } = input;
  if (heldUntil === undefined || labelled === undefined) return undefined;
  const side = sideOfNext(input);
  if (side === undefined || side === labelled) return undefined;
  // The absolute time, which is the same in each pass.
  const message = `the label changed less than minHold ago; it may change at ${new Date(heldUntil).toISOString()}`;
  return settled(labelled, HELD_BY_MIN_HOLD, message);
};

function sideOfNext(input: Parameters<Policy>[0]) {
  for (const policy of CHANGING) {
    const verdict = policy(input);
    if (verdict !== undefined) return verdict.side;
  }
  return undefined;
}

/**
 * The policies of the verdict, in order. The first policy that applies decides; the last one applies to every node. To
 * add a policy, write it above and add its line here.
 */
export const POLICIES: readonly Policy[] = [
  passFailed,
  heldByMinHold,
  missingData,
  noFigure,
  warmingUp,
  passesAgree,
  labelStands,
  undecided,
];

const CONDITIONAL: ReadonlySet<Policy> = new Set([heldByMinHold, missingData, warmingUp]);

/**
 * The policies without those that apply to no node unless the spec has minHold or missingData, or the rate window fills.
 * They suffice for most passes, and ten thousand nodes for each of fifty TrafficWatches are half a million verdicts.
 */
export const PLAIN_POLICIES: readonly Policy[] = POLICIES.filter((policy) => !CONDITIONAL.has(policy));
