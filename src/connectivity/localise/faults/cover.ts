import type { Steps } from '../steps.ts';
import type { Pair } from '../pairs/pair.ts';
import type { Group, Scope } from './scope.ts';

/**
 * How well a fault of a scope explains what was measured, by the pairs of it that no other fault explains.
 * Undefined: the scope is not at fault.
 */
export type Score = (scope: Scope, pairs: readonly Pair[]) => number | undefined;

/** The more specific scope explains the same pairs better. */
const SPECIFIC: readonly Scope['kind'][] = ['Link', 'Node', 'NodeIn', 'NodeOut', 'Zones', 'Zone', 'Cluster'];

interface Rated {
  readonly group: Group;
  readonly score: number;
}

/**
 * The fewest scopes that explain the affected pairs, greedily: the scope with the highest score first, then the next one
 * without the pairs that the first one explains. Explained pairs are added to `explained`.
 *
 * A scope that is not at fault stays so when pairs are explained, because the explained ones are nearly all affected.
 * So each round rates only scopes that are left and that share a pair with the last one chosen.
 */
export function* cover(groups: readonly Group[], score: Score, explained: Set<Pair>): Steps<Group[]> {
  const rate = (group: Group): Rated[] => {
    const rest = group.pairs.filter((pair) => !explained.has(pair));
    const value = rest.length > 0 ? score(group.scope, rest) : undefined;
    return value === undefined ? [] : [{ group, score: value }];
  };
  const chosen: Group[] = [];
  let rated: Rated[] = [];
  for (const group of groups) {
    yield;
    rated.push(...rate(group));
  }
  for (let best = bestOf(rated); best !== undefined; best = bestOf(rated)) {
    yield;
    chosen.push(best.group);
    const touched = new Set(best.group.pairs);
    for (const pair of touched) explained.add(pair);
    const last = best.group;
    rated = rated.flatMap((other) => {
      if (other.group === last) return [];
      return other.group.pairs.some((pair) => touched.has(pair)) ? rate(other.group) : [other];
    });
  }
  return chosen;
}

function bestOf(rated: readonly Rated[]): Rated | undefined {
  let best = rated[0];
  for (const other of rated) if (best !== undefined && isBetter(other, best)) best = other;
  return best;
}

function isBetter(a: Rated, b: Rated): boolean {
  if (a.score !== b.score) return a.score > b.score;
  const rank = SPECIFIC.indexOf(a.group.scope.kind) - SPECIFIC.indexOf(b.group.scope.kind);
  return rank < 0 || (rank === 0 && a.group.key < b.group.key);
}
