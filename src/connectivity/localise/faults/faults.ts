import type { Pair } from '../pairs/pair.ts';
import type { Quality } from '../pairs/quality.ts';
import { cover, type Score } from './cover.ts';
import { scoreByLoss, scoreByShare, type LossTest, type Witness } from './score.ts';
import { isAffected, keyOf, linkOf, type Group, type Scope, type Zones } from './scope.ts';
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
 * | 2 | Mtu | pairs of step 1, pairs that fail or lose small packets, pairs whose MTU was not measured |
 * | 3 | Lossy | pairs of step 1, pairs that fail |
 * | 4 | links: Failed or Lossy | pairs of steps 1 and 3; pairs that fail by chance, among those of step 3 |
 * | 5 | links: Mtu | pairs of steps 1 to 3 |
 */
export function faultsOf(
  pairs: readonly Pair[],
  all: readonly Group[],
  zones: Zones,
  silent: Witness,
  lossPercent: number,
): Fault[] {
  const whole = all.filter(({ scope }) => scope.kind !== 'NodeIn' && scope.kind !== 'NodeOut');
  const loss: LossTest = { lossPercent, background: backgroundOf(pairs), samples: pairs.length };
  const nothing = ({ quality, worst }: Pair) => quality === 'Failed' || quality === 'Lossy' || worst.mtu === undefined;
  const failed = new Set<Pair>();
  const faults = covers(
    'Failed',
    all,
    (witness) => scoreByShare('Failed', () => false, zones, witness),
    failed,
    silent,
  );
  const large = new Set(failed);
  faults.push(...covers('Mtu', whole, (witness) => scoreByShare('Mtu', nothing, zones, witness), large, silent));
  const lossy = new Set(failed);
  const byLoss = (witness: Witness) => scoreByLoss(loss, zones, witness);
  const losses = covers('Lossy', whole, byLoss, lossy, () => false);
  for (const pair of losses.flatMap(failedBeside)) if (!failed.has(pair)) lossy.delete(pair);
  faults.push(...losses);
  return [...faults, ...linkFaults(pairs, lossy, large, loss)];
}

/** Loss from which on a run of 20 datagrams may be lost as a whole by chance: 0.7 ** 20 is 0.1 %. */
const HEAVY_LOSS = 0.7;

/** Pairs of a lossy scope that fail for another reason than its loss. */
function failedBeside({ pairs }: Fault): readonly Pair[] {
  const passing = pairs.filter(({ quality }) => quality !== 'Failed');
  return shareOf(sum(passing)) >= HEAVY_LOSS ? [] : pairs.filter(({ quality }) => quality === 'Failed');
}

/**
 * The faults of one kind. A node whose other plane has the same fault may have fewer peers that show it, so such nodes are
 * tried again.
 */
function covers(
  kind: Fault['kind'],
  groups: readonly Group[],
  score: (witness: Witness) => Score,
  explained: Set<Pair>,
  witness: Witness,
): Fault[] {
  const chosen = cover(groups, score(witness), explained);
  const nodes = new Map(chosen.flatMap(({ scope }) => (scope.kind === 'Node' ? [[scope.names[0], scope.plane]] : [])));
  const again = groups.filter(({ scope: { kind: at, names, plane } }) => {
    const other = nodes.get(names[0]);
    return at === 'Node' && other !== undefined && other !== plane;
  });
  return [
    ...chosen,
    ...cover(
      again,
      score(() => true),
      explained,
    ),
  ].map(({ scope, pairs }) => ({ scope, kind, pairs }));
}

function linkFaults(
  pairs: readonly Pair[],
  lossy: ReadonlySet<Pair>,
  large: ReadonlySet<Pair>,
  { lossPercent, background, samples }: LossTest,
): Fault[] {
  const links = linksOf(pairs.filter((pair) => !lossy.has(pair)));
  return links.flatMap(({ scope, pairs: own }): Fault[] => {
    const loss = sum(own.filter((pair) => pair.quality !== 'Failed'));
    const isLossy = shareOf(loss) * 100 >= lossPercent && isSignificant(loss, background, samples);
    if (own.some(({ quality }) => quality === 'Failed')) return [{ scope, kind: 'Failed', pairs: own }];
    if (isLossy) return [{ scope, kind: 'Lossy', pairs: own }];
    const isMtu = own.some((pair) => pair.quality === 'Mtu' && !large.has(pair));
    return isMtu ? [{ scope, kind: 'Mtu', pairs: own }] : [];
  });
}

/** Links with an affected pair, each with its pairs of both directions. */
function linksOf(pairs: readonly Pair[]): Group[] {
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
  return [...links.values()];
}
