import { heldByMinHold } from './policies/heldByMinHold.ts';
import { labelStands } from './policies/labelStands.ts';
import { missingData } from './policies/missingData.ts';
import { noFigure } from './policies/noFigure.ts';
import { passesAgree } from './policies/passesAgree.ts';
import { passFailed } from './policies/passFailed.ts';
import { undecided } from './policies/undecided.ts';
import { warmingUp } from './policies/warmingUp.ts';
import type { Policy } from './policy.ts';

/**
 * The policies of the verdict, in order. The first policy that applies decides; the last one applies to every node. To
 * add a policy, add its file to policies/ and its line here.
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
