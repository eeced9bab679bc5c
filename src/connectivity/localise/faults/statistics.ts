import type { Pair } from '../pairs/pair.ts';

/** Datagrams that were sent and lost. */
export interface Loss {
  readonly sent: number;
  readonly lost: number;
}

/** No network is assumed to lose less than this share when nothing is wrong. */
const LEAST_BACKGROUND = 0.002;

/** Share of evaluations of a healthy cluster that may have a finding of loss by chance. */
const FALSE_ALARMS = 1e-4;

/**
 * Returns the share of datagrams that healthy pairs lose, 0 to 1. It is computed from pairs with at most one loss: a fault may
 * affect pairs with more.
 */
export function backgroundOf(pairs: readonly Pair[]): number {
  const calm = sum(pairs.filter(({ lost, sent }) => sent > 0 && lost <= 1));
  return Math.max(LEAST_BACKGROUND, calm.sent > 0 ? calm.lost / calm.sent : 0);
}

export function sum(losses: Iterable<Loss>): Loss {
  let sent = 0;
  let lost = 0;
  for (const loss of losses) {
    sent += loss.sent;
    lost += loss.lost;
  }
  return { sent, lost };
}

export function shareOf({ sent, lost }: Loss): number {
  return sent > 0 ? lost / sent : 0;
}

/**
 * The loss is too high for chance, among so many samples that are tested at the same time (Bonferroni).
 * Without that, one of 100,000 healthy pairs would always look lossy.
 */
export function isSignificant(loss: Loss, background: number, samples: number): boolean {
  return loss.lost > 0 && upperTail(loss, background) < FALSE_ALARMS / Math.max(1, samples);
}

/**
 * Returns an upper bound of the probability of this many losses or more in a binomial distribution: Chernoff's bound,
 * exp(-n * KL(share, background)). For small runs it is at most one order of magnitude above the exact value.
 */
function upperTail(loss: Loss, background: number): number {
  const share = shareOf(loss);
  if (share <= background) return 1;
  const rest = share === 1 ? 0 : (1 - share) * Math.log((1 - share) / (1 - background));
  return Math.exp(-loss.sent * (share * Math.log(share / background) + rest));
}
