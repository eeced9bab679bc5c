import { placeOf, type Pair } from '../pairs/pair.ts';
import { failsOver, over, type Family } from '../pairs/quality.ts';
import type { Scope, Zones } from './scope.ts';
import { isSignificant, shareOf, sum, type Loss } from './statistics.ts';

/**
 * How well a fault of a scope explains what was measured, by the pairs of it that no other fault explains.
 * Undefined: the scope is not at fault.
 */
export type Score = (scope: Scope, pairs: readonly Pair[]) => number | undefined;

/** Share of affected pairs from which on a scope is at fault. Below 1, since single measurements are older than a fault. */
const AFFECTED_SHARE = 0.9;

/**
 * Whether something else than the pairs confirms that the scope is at fault: an agent that does not report, or the other
 * plane of the node.
 */
export type Witness = (scope: Scope, pairs: readonly Pair[]) => boolean;

/**
 * Scores a scope by its number of affected pairs.
 *
 * | affected share | affected nodes | at fault |
 * |---|---|---|
 * | below 90 % | | no: the others show that it works |
 * | 90 % | node: one peer, nothing confirms it | no: it may be the link, or the peer |
 * | 90 % | node: one peer, and its agent is silent, or its other plane has the same fault | yes |
 * | 90 % | node: two peers or more | yes |
 * | 90 % | zone or zones: one node of a zone | no: it is that node |
 * | 90 % | cluster: reports of fewer than three nodes | no: it is one of them |
 */
export function scoreByShare(
  isBad: (pair: Pair) => boolean,
  saysNothing: (pair: Pair) => boolean,
  zones: Zones,
  witness: Witness,
): Score {
  return (scope, pairs) => {
    const bad = pairs.filter(isBad);
    const known = pairs.filter((pair) => !saysNothing(pair));
    if (bad.length === 0 || bad.length < known.length * AFFECTED_SHARE) return undefined;
    return hasWitnesses(scope, bad, zones) || witness(scope, bad) ? bad.length : undefined;
  };
}

/**
 * Scores a scope by its pairs that fail over one family. Some of them may fail over all: a node without IPv4 and one without
 * IPv6 do not reach each other. If none works over another family, this family is not at fault.
 */
export function scoreByFamily(family: Family, zones: Zones, witness: Witness): Score {
  const byShare = scoreByShare(
    (pair) => failsOver(family, pair),
    (pair) => over(family, pair) === undefined,
    zones,
    witness,
  );
  return (scope, pairs) => {
    const isOfFamily = pairs.some((pair) => pair.quality === 'FamilyFailed' && failsOver(family, pair));
    return isOfFamily ? byShare(scope, pairs) : undefined;
  };
}

/** Whether a pair shows that it is slow, and loses no packets over the family that is. Loss alone delays TCP. */
export function showsSlow({ quality, isSlow }: Pair): boolean {
  return quality === 'Slow' || (quality === 'FamilyFailed' && isSlow === true);
}

/**
 * Scores a scope by its slow pairs. A pair that loses packets or lacks a family still shows whether the others arrive late; a pair
 * without a round trip, such as one that is refused, says nothing. The scope is at fault only if a pair shows slowness alone: see showsSlow().
 */
export function scoreBySpeed(zones: Zones, witness: Witness): Score {
  const byShare = scoreByShare(
    ({ isSlow }) => isSlow === true,
    ({ isSlow }) => isSlow === undefined,
    zones,
    witness,
  );
  return (scope, pairs) => (pairs.some(showsSlow) ? byShare(scope, pairs) : undefined);
}

/**
 * Whether the other ends of a node's slow pairs have pairs that are not slow, and the node has none. Then the node is at fault rather
 * than each of its links, even if it has one pair.
 */
export function slowEnd(pairs: readonly Pair[]): Witness {
  const fast = new Set<string>();
  for (const { from, to, plane, isSlow } of pairs) {
    if (isSlow === false) fast.add(placeOf(from, plane)).add(placeOf(to, plane));
  }
  return ({ kind, plane, names: [node = ''] }, bad) =>
    kind === 'Node' && bad.every(({ from, to }) => fast.has(placeOf(from === node ? to : from, plane)));
}

/** Whether the affected pairs have enough different nodes, so that no smaller scope explains them. */
function hasWitnesses({ kind, names }: Scope, bad: readonly Pair[], zones: Zones): boolean {
  const ends = new Set(bad.flatMap(({ from, to }) => [from, to]));
  if (kind === 'Cluster') return new Set(bad.map(({ from }) => from)).size >= 3;
  if (kind === 'Zone' || kind === 'Zones') {
    return names.every((zone) => [...ends].filter((node) => zones.get(node) === zone).length >= 2);
  }
  return ends.size >= 3;
}

/** The parameters of the test for loss. */
export interface LossTest {
  /** The least loss of a scope that is at fault, percent. */
  readonly lossPercent: number;
  /** The share of datagrams that healthy pairs lose, 0 to 1. */
  readonly background: number;
  /** How many samples are tested at the same time. */
  readonly samples: number;
}

/**
 * Scores a scope by its lost datagrams. Small runs of single pairs are added up, so that a share of loss that no pair
 * shows for certain is certain for the node.
 *
 * | lost of all | lost towards the better peers or pairs | at fault |
 * |---|---|---|
 * | below `lossPercent`, or by chance | | no |
 * | above | as in a healthy network | no: it is the others |
 * | above | half of `lossPercent`, and not by chance | yes |
 *
 * The better ones are half of the peers of a node, and of zones or the cluster a quarter of the pairs, or a tenth of at
 * most 50: if three of five nodes are at fault, a tenth of the pairs loses nothing.
 */
export function scoreByLoss({ lossPercent, background, samples }: LossTest, zones: Zones, witness: Witness): Score {
  const least = lossPercent / 100;
  return (scope, pairs) => {
    const measured = pairs.filter((pair) => pair.sent > 0 && !pair.refused && pair.quality !== 'Failed');
    const all = sum(measured);
    if (shareOf(all) < least || !isSignificant(all, background, samples)) return undefined;
    const better = betterOf(scope, rowsOf(scope, measured));
    if (shareOf(better) < least / 2 || !isSignificant(better, background, 1)) return undefined;
    return hasWitnesses(scope, measured, zones) || witness(scope, measured)
      ? all.lost - all.sent * background
      : undefined;
  };
}

/** Returns the loss of a node for each of its peers, and the loss of other scopes for each pair. */
function rowsOf({ kind, names }: Scope, pairs: readonly Pair[]): Loss[] {
  if (kind !== 'Node') return [...pairs].sort((a, b) => shareOf(a) - shareOf(b));
  const rows = new Map<string, { sent: number; lost: number }>();
  for (const { from, to, sent, lost } of pairs) {
    const peer = from === names[0] ? to : from;
    const row = rows.get(peer) ?? { sent: 0, lost: 0 };
    row.sent += sent;
    row.lost += lost;
    rows.set(peer, row);
  }
  return [...rows.values()].sort((a, b) => shareOf(a) - shareOf(b));
}

function betterOf({ kind }: Scope, rows: readonly Loss[]): Loss {
  const parts = kind === 'Node' ? 2 : rows.length > 50 ? 4 : 10;
  return sum(rows.slice(0, Math.ceil(rows.length / parts)));
}
