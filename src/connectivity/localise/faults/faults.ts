import type { Pair } from '../pairs/pair.ts';
import { failsOver, FAMILIES, type Family, type PairQuality } from '../pairs/quality.ts';
import type { Steps } from '../steps.ts';
import { losesLarge, scoreByMtu } from './mtu.ts';
import { isAffected, keyOf, linkOf, type Group, type Scope, type Zones } from './scope.ts';
import {
  scoreByFamily,
  scoreByLoss,
  scoreByShare,
  scoreBySpeed,
  showsSlow,
  slowEnd,
  type LossTest,
  type Score,
  type Witness,
} from './score.ts';
import { backgroundOf, isSignificant, shareOf, sum } from './statistics.ts';

/** A part of the network that does not work, on one plane. */
export interface Fault {
  readonly scope: Scope;
  readonly kind: FaultKind;
  /** The family that fails, with the kind FamilyFailed. */
  readonly family?: Family;
  /** All pairs in the scope. */
  readonly pairs: readonly Pair[];
}

export type FaultKind = Exclude<PairQuality, 'Ok'>;

/** Whether a pair has the quality of a fault. Loss of a scope may show in no single pair. */
export function shows({ kind, family }: Pick<Fault, 'kind' | 'family'>, pair: Pair): boolean {
  if (kind === 'Slow') return showsSlow(pair);
  return family === undefined ? pair.quality === kind : failsOver(family, pair);
}

/**
 * Finds the faults that explain the affected pairs: first faults of nodes, zones and the cluster, then links for the pairs
 * that are left.
 *
 * | step | affected | says nothing |
 * |---|---|---|
 * | 1 | Failed | |
 * | 2 | each family that fails alone | pairs of step 1, pairs without an address of the family |
 * | 3 | Slow: see scoreBySpeed() | pairs of step 1, pairs without a round trip |
 * | 4 | Mtu: see scoreByMtu() | pairs of step 1, and others |
 * | 5 | Lossy | pairs of step 1, pairs that fail, and the family that fails of other pairs |
 * | 6 | links: Failed, FamilyFailed or Lossy | pairs of steps 1 and 5; pairs of a fault of step 5 that fail by chance |
 * | | the same: Failed and FamilyFailed | pairs of which step 2 explains each family that fails |
 * | 7 | links: Slow | pairs of steps 1, 3 and 5 |
 * | 8 | links: Mtu | pairs of steps 1, 4 and 5 |
 */
export function* faultsOf(
  pairs: readonly Pair[],
  all: readonly Group[],
  zones: Zones,
  silent: Witness,
  lossPercent: number,
): Steps<Fault[]> {
  const whole = all.filter(({ scope }) => scope.kind !== 'NodeIn' && scope.kind !== 'NodeOut');
  const loss: LossTest = { lossPercent, background: backgroundOf(pairs), samples: pairs.length };
  const failed = new Set<Pair>();
  const faults = yield* covers(
    'Failed',
    all,
    (witness) => scoreByShare(isFailed, () => false, zones, witness),
    failed,
    silent,
  );
  const families = yield* familyFaults(pairs, all, zones, failed);
  faults.push(...families.faults);
  const slow = new Set(failed);
  faults.push(...(yield* covers('Slow', whole, (witness) => scoreBySpeed(zones, witness), slow, slowEnd(pairs))));
  const large = new Set(failed);
  faults.push(...(yield* covers('Mtu', all, (witness) => scoreByMtu(pairs, zones, witness), large, silent)));
  const lossy = new Set(failed);
  const byLoss = (witness: Witness) => scoreByLoss(loss, zones, witness);
  const losses = yield* covers('Lossy', whole, byLoss, lossy, () => false);
  const { isExplained } = families;
  for (const pair of losses.flatMap(failedBeside)) {
    const isOpen = FAMILIES.some((family) => failsOver(family, pair) && !isExplained(pair, family));
    if (isOpen && !failed.has(pair)) lossy.delete(pair);
  }
  faults.push(...losses);
  const left = { lossy, slow, large, isExplained };
  return [...faults, ...linkFaults(pairs, left, loss)];
}

const isFailed = ({ quality }: Pair): boolean => quality === 'Failed';
interface FamilyFaults {
  readonly faults: readonly Fault[];
  /** Whether these faults explain that a pair fails over a family. */
  readonly isExplained: (pair: Pair, family: Family) => boolean;
}

/** Finds the faults of step 2: families that fail alone. A cluster with one family has none. */
function* familyFaults(
  pairs: readonly Pair[],
  all: readonly Group[],
  zones: Zones,
  failed: ReadonlySet<Pair>,
): Steps<FamilyFaults> {
  const partial = pairs.filter(({ quality }) => quality === 'FamilyFailed');
  const failing = FAMILIES.filter((family) => partial.some((pair) => failsOver(family, pair)));
  const explained = new Map(failing.map((family) => [family, new Set(failed)]));
  const faults: Fault[] = [];
  for (const [family, set] of explained) {
    const found = yield* covers(
      'FamilyFailed',
      all,
      (witness) => scoreByFamily(family, zones, witness),
      set,
      // Reports go over either family, so a silent agent confirms nothing.
      () => false,
    );
    faults.push(...found.map((fault) => ({ ...fault, family })));
  }
  return { faults, isExplained: (pair, family) => explained.get(family)?.has(pair) ?? false };
}

/** Loss from which on a run of 20 datagrams may be lost as a whole by chance: 0.7 ** 20 is 0.1 %. */
const HEAVY_LOSS = 0.7;

/** Returns the pairs of a lossy scope that fail for another reason than its loss. */
function failedBeside({ pairs }: Fault): readonly Pair[] {
  const passing = pairs.filter((pair) => !isFailed(pair));
  if (shareOf(sum(passing)) >= HEAVY_LOSS) return [];
  return pairs.filter((pair) => isFailed(pair) || pair.quality === 'FamilyFailed');
}

/**
 * The faults of one kind. A node whose other plane has the same fault may have fewer peers that show it, so such nodes are
 * tried again.
 */
function* covers(
  kind: Fault['kind'],
  groups: readonly Group[],
  score: (witness: Witness) => Score,
  explained: Set<Pair>,
  witness: Witness,
): Steps<Fault[]> {
  const chosen = yield* cover(groups, score(witness), explained);
  const ofNodes = chosen.map(({ scope }) => scope).filter((scope) => scope.kind.startsWith('Node'));
  const planes = new Map(ofNodes.map(({ kind: at, names, plane }) => [`${at} ${names[0]}`, plane]));
  const again = groups.filter(({ scope: { kind: at, names, plane } }) => {
    const other = planes.get(`${at} ${names[0]}`);
    return other !== undefined && other !== plane;
  });
  const more = yield* cover(
    again,
    score(() => true),
    explained,
  );
  return [...chosen, ...more].map(({ scope, pairs }) => ({ scope, kind, pairs }));
}

/** The pairs that faults of larger scopes explain, which leave the other pairs to links. */
interface Left extends Pick<FamilyFaults, 'isExplained'> {
  /** Pairs whose failure or loss is explained. */
  readonly lossy: ReadonlySet<Pair>;
  /** Pairs whose slowness is explained. */
  readonly slow: ReadonlySet<Pair>;
  /** Pairs whose large packets are explained. */
  readonly large: ReadonlySet<Pair>;
}

function linkFaults(
  pairs: readonly Pair[],
  { lossy, slow, large, isExplained }: Left,
  { lossPercent, background, samples }: LossTest,
): Fault[] {
  const isOpen = (pair: Pair, family: Family): boolean => failsOver(family, pair) && !isExplained(pair, family);
  const links = linksOf(pairs.filter((pair) => !lossy.has(pair)));
  return links.flatMap(({ scope, pairs: own }): Fault[] => {
    const loss = sum(own.filter((pair) => !isFailed(pair)));
    const isLossy = shareOf(loss) * 100 >= lossPercent && isSignificant(loss, background, samples);
    const failing = FAMILIES.filter((family) => own.some((pair) => isOpen(pair, family)));
    if (own.some((pair) => isFailed(pair) && failing.some((family) => isOpen(pair, family)))) {
      return [{ scope, kind: 'Failed', pairs: own }];
    }
    if (failing.length > 0) return failing.map((family) => ({ scope, kind: 'FamilyFailed', family, pairs: own }));
    if (isLossy) return [{ scope, kind: 'Lossy', pairs: own }];
    if (own.some((pair) => showsSlow(pair) && !slow.has(pair))) return [{ scope, kind: 'Slow', pairs: own }];
    const hasMtu = own.some((pair) => losesLarge(pair) && !large.has(pair));
    return hasMtu ? [{ scope, kind: 'Mtu', pairs: own }] : [];
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
function* cover(groups: readonly Group[], score: Score, explained: Set<Pair>): Steps<Group[]> {
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
