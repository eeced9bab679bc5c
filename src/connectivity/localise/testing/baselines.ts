import { PLANES } from '../../../api/connectivitycheck/terms.ts';
import { shows, type Fault } from '../faults/faults.ts';
import { keyOf, linkOf, type Scope, type Zones } from '../faults/scope.ts';
import type { FaultFinder } from '../localise.ts';
import type { Pair } from '../pairs/pair.ts';
import { FAMILIES } from '../pairs/quality.ts';

/** A part of the network that packets cross, with the pairs that cross it. */
interface Element {
  readonly scope: Scope;
  readonly pairs: readonly Pair[];
  readonly bad: readonly Pair[];
}

/** How pairs fail. The methods look at the pairs of each kind and plane by themselves. */
type Symptom = Pick<Fault, 'kind' | 'family'>;
const SYMPTOMS: readonly Symptom[] = [
  { kind: 'Failed' },
  ...FAMILIES.map((family) => ({ kind: 'FamilyFailed', family }) as const),
  { kind: 'Mtu' },
  { kind: 'Slow' },
  { kind: 'Lossy' },
];

/** A link explains the same pairs better than a node, and a node better than zones. */
const SPECIFIC: readonly Scope['kind'][] = ['Link', 'Node', 'Zones'];

/**
 * Other methods of finding faults of the network, to compare them. They get the same pairs, whose quality the same thresholds
 * define, and the same rules name their faults. A pair crosses both nodes, the link between them, and the connection of their zones.
 *
 * - Voting: Arzani et al., "007: Democratically Finding the Cause of Packet Drops", NSDI 2018, algorithm 1. Each affected
 *   pair has one vote, divided among the elements that it crosses. The element with most votes is at fault; the votes of its
 *   pairs are withdrawn, and so on, while an element has 1 % of all votes.
 * - Coverage: the element with most affected pairs that are not explained is at fault, and so on until all are explained.
 * - Node threshold: a node of whose pairs half are affected is at fault, as dashboards of goldpinger show it.
 */
export const BASELINES: Readonly<Record<string, FaultFinder>> = {
  'Voting (007)': by((elements) => greedily(elements, sharesOf(elements), 0.01)),
  'Greedy coverage': by((elements) => greedily(elements, () => 1, 0)),
  'Node threshold': by((elements) =>
    elements.filter(({ scope, pairs, bad }) => scope.kind === 'Node' && bad.length >= pairs.length / 2),
  ),
};

function by(choose: (elements: readonly Element[]) => readonly Element[]): FaultFinder {
  // A finder takes steps; these are small enough for one.
  // oxlint-disable-next-line require-yield
  return function* find(pairs, _groups, zones) {
    return PLANES.flatMap((plane) => {
      const all = pairs.filter((pair) => pair.plane === plane);
      return SYMPTOMS.flatMap((symptom) =>
        choose(elementsOf(all, symptom, zones)).map((element) => ({ ...symptom, ...element })),
      );
    });
  };
}

/** The elements that an affected pair crosses. */
function elementsOf(pairs: readonly Pair[], symptom: Symptom, zones: Zones): Element[] {
  const elements = new Map<string, { scope: Scope; pairs: Pair[]; bad: Pair[] }>();
  const isBad = (pair: Pair): boolean => pair.quality === symptom.kind && shows(symptom, pair);
  for (const scope of pairs.filter(isBad).flatMap((pair) => crossed(pair, zones))) {
    elements.set(keyOf(scope), { scope, pairs: [], bad: [] });
  }
  if (elements.size === 0) return [];
  for (const pair of pairs) {
    for (const scope of crossed(pair, zones)) {
      const element = elements.get(keyOf(scope));
      element?.pairs.push(pair);
      if (isBad(pair)) element?.bad.push(pair);
    }
  }
  return [...elements.values()];
}

function crossed(pair: Pair, zones: Zones): Scope[] {
  const { from, to, plane } = pair;
  const [a, b] = [zones.get(from), zones.get(to)];
  const ends = [from, to].map((node): Scope => ({ kind: 'Node', plane, names: [node] }));
  if (a === undefined || b === undefined || a === b) return [...ends, linkOf(pair)];
  return [...ends, linkOf(pair), { kind: 'Zones', plane, names: [a, b].sort() }];
}

/** Returns the part of its vote that a pair has for each element. */
function sharesOf(elements: readonly Element[]): (pair: Pair) => number {
  const crossing = new Map<Pair, number>();
  for (const { bad } of elements) for (const pair of bad) crossing.set(pair, (crossing.get(pair) ?? 0) + 1);
  return (pair) => 1 / (crossing.get(pair) ?? 1);
}

function greedily(elements: readonly Element[], weight: (pair: Pair) => number, least: number): Element[] {
  const explained = new Set<Pair>();
  const chosen: Element[] = [];
  const total = new Set(elements.flatMap(({ bad }) => bad)).size;
  const scoreOf = ({ bad }: Element): number =>
    bad.reduce((sum, pair) => sum + (explained.has(pair) ? 0 : weight(pair)), 0);
  const ranked = [...elements].sort((a, b) => SPECIFIC.indexOf(a.scope.kind) - SPECIFIC.indexOf(b.scope.kind));
  for (;;) {
    const scores = ranked.map(scoreOf);
    const most = Math.max(0, ...scores);
    const best = ranked[scores.indexOf(most)];
    if (best === undefined || most === 0 || most < least * total) return chosen;
    chosen.push(best);
    for (const pair of best.bad) explained.add(pair);
  }
}
