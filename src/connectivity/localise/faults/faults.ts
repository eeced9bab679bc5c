import type { Pair } from '../pairs/pair.ts';
import type { Quality } from '../pairs/quality.ts';
import { cover, type Score } from './cover.ts';
import { scoreByLoss, scoreByShare, type Witness } from './score.ts';
import { groupsOf, isAffected, keyOf, linkOf, type Group, type Scope, type Zones } from './scope.ts';
import { backgroundOf, isSignificant, shareOf, sum } from './statistics.ts';

/** A part of the network that does not work, on one plane. */
export interface Fault {
  readonly scope: Scope;
  readonly kind: Exclude<Quality, 'Ok'>;
  /** All pairs in the scope. */
  readonly pairs: readonly Pair[];
}

/**
 * The faults that explain the affected pairs: first those of nodes, zones and the cluster, and then links for what is left.
 *
 * | step | affected | says nothing |
 * |---|---|---|
 * | 1 | Failed | |
 * | 2 | Mtu | pairs of step 1, pairs that fail or lose small packets |
 * | 3 | Lossy, or failed by chance | pairs of step 1 |
 * | 4 | links: Failed or Lossy | pairs of steps 1 and 3 |
 * | 5 | links: Mtu | pairs of steps 1 to 3 |
 */
export function faultsOf(pairs: readonly Pair[], zones: Zones, silent: Witness, lossPercent: number): Fault[] {
  const all = groupsOf(pairs, zones);
  const whole = all.filter(({ scope }) => scope.kind !== 'NodeIn' && scope.kind !== 'NodeOut');
  const background = backgroundOf(pairs);
  const failed = new Set<Pair>();
  const faults: Fault[] = [];
  const run = (kind: Fault['kind'], groups: readonly Group[], score: Score, explained: Set<Pair>) => {
    for (const { scope, pairs: own } of cover(groups, score, explained)) faults.push({ scope, kind, pairs: own });
  };
  run('Failed', all, scoreByShare('Failed', [], zones, silent), failed);
  const large = new Set(failed);
  run('Mtu', whole, scoreByShare('Mtu', ['Failed', 'Lossy'], zones, silent), large);
  const lossy = new Set(failed);
  run('Lossy', whole, scoreByLoss(lossPercent, background, pairs.length, zones), lossy);
  return [...faults, ...linkFaults(pairs, { lossy, large, background, lossPercent })];
}

interface Left {
  readonly lossy: ReadonlySet<Pair>;
  readonly large: ReadonlySet<Pair>;
  readonly background: number;
  readonly lossPercent: number;
}

function linkFaults(pairs: readonly Pair[], { lossy, large, background, lossPercent }: Left): Fault[] {
  const links = linksOf(pairs.filter((pair) => !lossy.has(pair)));
  return [...links.values()].flatMap(({ scope, pairs: own }): Fault[] => {
    const loss = sum(own.filter((pair) => pair.quality !== 'Failed'));
    const isLossy = shareOf(loss) * 100 >= lossPercent && isSignificant(loss, background, pairs.length);
    if (own.some(({ quality }) => quality === 'Failed')) return [{ scope, kind: 'Failed', pairs: own }];
    if (isLossy) return [{ scope, kind: 'Lossy', pairs: own }];
    const isMtu = own.some((pair) => pair.quality === 'Mtu' && !large.has(pair));
    return isMtu ? [{ scope, kind: 'Mtu', pairs: own }] : [];
  });
}

/** Links with an affected pair, each with its pairs of both directions. */
function linksOf(pairs: readonly Pair[]): Map<string, Group> {
  const affected = pairs.filter(isAffected);
  const links = new Map<string, Group & { readonly pairs: Pair[] }>();
  for (const pair of affected) {
    const scope = linkOf(pair);
    links.set(keyOf(scope), { key: keyOf(scope), scope, pairs: [] });
  }
  const ends = new Set(affected.flatMap(({ from, to }) => [from, to]));
  for (const pair of pairs) {
    if (ends.has(pair.from) && ends.has(pair.to)) links.get(keyOf(linkOf(pair)))?.pairs.push(pair);
  }
  return links;
}
