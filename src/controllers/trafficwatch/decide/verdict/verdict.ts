import type { NodeVerdict } from './nodeVerdict.ts';
import { PLAIN_POLICIES, POLICIES, type VerdictInput } from './policies.ts';

const UNREACHABLE = 'unreachable: the last policy applies to every node';

/**
 * Decides the verdict of one node: the first policy that applies gives it.
 *
 * | newest pass     | pass before | label  | verdict       | label written | policy      |
 * |-----------------|-------------|--------|---------------|---------------|-------------|
 * | failed          | any         | any    | Unknown       | stays         | passFailed  |
 * | would change the label within minHold | any | any | as the label | stays | heldByMinHold |
 * | no figure, for longer than missingData.holdFor | any | any | Unfit or Fit | "true" or "false" | missingData |
 * | no figure       | any         | any    | Unknown       | stays         | noFigure    |
 * | would change the label while the rate window fills after an outage | any | any | as the label | stays | warmingUp |
 * | above           | above       | any    | Unfit         | "true"        | passesAgree |
 * | not above       | not above   | any    | Fit           | "false"       | passesAgree |
 * | above/not above | other side or no figure | "true"/"false" | as the label | stays | labelStands |
 * | above/not above | other side or no figure | none | Unknown | stays (none) | undecided |
 *
 * "pass before" stands for as many passes as passesToAgree requires, two by default. thresholdFor gives the threshold: it
 * is lower for a node that is unfit, by default 80 % of maxBandwidthPercent.
 *
 * Exactly the threshold is fit: unfit is percent > maxBandwidthPercent, as in PKopel/traffic-operator.
 */
export function decideVerdict(input: VerdictInput): NodeVerdict {
  for (const policy of POLICIES) {
    const verdict = policy(input);
    if (verdict) return verdict;
  }
  throw new Error(UNREACHABLE);
}

/**
 * The same for an input without heldUntil, missingAs and isWindowFilling. The loop is written twice, since a compiler
 * inlines the policies of a constant list only: it takes a fifth off a pass.
 */
export function decidePlainVerdict(input: VerdictInput): NodeVerdict {
  for (const policy of PLAIN_POLICIES) {
    const verdict = policy(input);
    if (verdict) return verdict;
  }
  throw new Error(UNREACHABLE);
}
