import type { Verdict } from '../../../../api/trafficwatch/schema.ts';
import { isNotMeasurable, type NotMeasurable } from '../../../../nodes/notMeasurable.ts';
import { describeDrop, isAboveForDrop } from '../../../../usage/evaluate/capacityDrop.ts';
import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';
import { once } from '../once.ts';
import { sideOf, type Side } from './side.ts';

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

/** What was decided of one node, and why. */
export interface NodeVerdict {
  readonly verdict: Verdict;
  readonly reason: string;
  readonly message: string;
  /** The side that the label of the node should stand for; undefined means that the label stays as it is. */
  readonly side: Side | undefined;
}

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

type Check = (input: VerdictInput) => NodeVerdict | undefined;

const unknown = (reason: string, message: string): NodeVerdict => ({
  verdict: 'Unknown',
  reason,
  message,
  side: undefined,
});

const settled = (side: Side, reason: string, message: string): NodeVerdict => ({
  verdict: side === 'above' ? 'Unfit' : 'Fit',
  reason,
  message,
  side,
});

/** What most nodes get in most passes is one object for all of them. */
const BELOW_TWICE = settled('notAbove', 'BelowThreshold', 'not above the threshold in two passes in a row');
const BELOW_AS_LABELLED = settled('notAbove', 'BelowThreshold', 'not above the threshold, as the label says');

const passFailed: Check = ({ passError }) => passError && unknown(passError.reason, passError.message);

const noFigure: Check = ({ passes: [current], notMeasurable }) => {
  if (current?.percent !== undefined) return undefined;
  if (notMeasurable !== undefined) return unknown(notMeasurable.reason, notMeasurable.message);
  return unknown(current?.reason ?? 'NoSeries', current?.message ?? 'Prometheus has no series of this node');
};

/** A node that is above only since its capacity fell is told apart: it is the network that needs looking after. */
function above(message: string, usage: NodeUsage | undefined, maxPercent: number): [reason: string, message: string] {
  if (!usage || !isAboveForDrop(usage, maxPercent)) return ['AboveThreshold', message];
  return ['CapacityFell', `${message}; ${describeDrop(usage) ?? ''}`];
}

const twoPassesAgree: Check = ({ passes: [current, previous], maxPercent }) => {
  const side = sideOf(current, maxPercent);
  if (side === undefined || side !== sideOf(previous, maxPercent)) return undefined;
  return side === 'above'
    ? settled(side, ...above('above the threshold in two passes in a row', current, maxPercent))
    : BELOW_TWICE;
};

const labelStands: Check = ({ passes: [current], maxPercent, labelled }) => {
  if (labelled === undefined) return undefined;
  if (sideOf(current, maxPercent) !== labelled) {
    return settled(labelled, 'AwaitingSecondPass', 'one pass differs from the label; a second one would change it');
  }
  return labelled === 'above'
    ? settled(labelled, ...above('above the threshold, as the label says', current, maxPercent))
    : BELOW_AS_LABELLED;
};

const undecided: Check = ({ passes: [, previous] }) =>
  previous?.percent === undefined
    ? unknown('FirstPass', 'measured in one pass; the verdict needs two in a row')
    : unknown(
        'PassesDisagree',
        'two passes were on different sides of the threshold; the verdict needs two that agree',
      );

/** In this order; the first that answers decides. The last one always does. */
const CHECKS: readonly Check[] = [passFailed, noFigure, twoPassesAgree, labelStands, undecided];

/**
 * The verdict of one node.
 *
 * | newest pass     | pass before | label  | verdict       | label written |
 * |-----------------|-------------|--------|---------------|---------------|
 * | no figure       | any         | any    | Unknown       | stays         |
 * | above           | above       | any    | Unfit         | "true"        |
 * | not above       | not above   | any    | Fit           | "false"       |
 * | above/not above | other side or no figure | "true"/"false" | as the label | stays |
 * | above/not above | other side or no figure | none | Unknown | stays (none) |
 *
 * Exactly the threshold is fit: unfit is percent > maxBandwidthPercent, as in PKopel/traffic-operator.
 */
export function decideVerdict(input: VerdictInput): NodeVerdict {
  for (const check of CHECKS) {
    const verdict = check(input);
    if (verdict) return verdict;
  }
  throw new Error('unreachable: the last check always answers');
}
