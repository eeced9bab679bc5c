import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import { certainSince, placeOf, type AgentsByPlace, type Pair, type Period } from '../pairs/pair.ts';
import type { Steps } from '../steps.ts';
import { isDirectionKnown } from './direction.ts';
import { shows, type Fault, type FaultKind } from './faults.ts';
import { losesLarge, passingBytes, sendsAbove } from './mtu.ts';
import { keyOf, zonesOf, type Group, type Scope, type Zones } from './scope.ts';

/** The measurements that `confirmedFaults` compares faults with. */
export interface Measured {
  readonly pairs: readonly Pair[];
  readonly groups: readonly Group[];
  readonly zones: Zones;
  readonly agents: AgentsByPlace;
}

/**
 * Returns the faults that all measurements agree upon. Agents measure one after the other, so when a fault begins or ends, the
 * last measurements of some are older, and what is at fault seems smaller than it is: a link instead of a node.
 *
 * A fault is confirmed if each larger scope that could be at fault instead was seen to work in the same period:
 *
 * | fault | larger scopes |
 * |---|---|
 * | link | its other direction, both nodes, their zones, the cluster |
 * | node | the same node on the other plane, its zones, the cluster |
 * | zones | each zone, the cluster |
 * | zone | the cluster |
 *
 * Of two agents with the same interval, the periods of the last two measurements always overlap. So every fault that
 * lasts is confirmed when all agents have measured it once.
 */
export function* confirmedFaults(faults: readonly Fault[], measured: Measured): Steps<ReadonlySet<Fault>> {
  if (faults.length === 0) return new Set();
  const rivals = new Rivals(faults, measured);
  const agreed = new Set<Fault>();
  for (const fault of faults) {
    yield;
    if (rivals.agree(fault) && isDirectionKnown(fault, measured.agents)) agreed.add(fault);
  }
  return agreed;
}

/** Returns the period from the first to the last measurement that shows a fault. */
function periodOf(fault: Fault): Period {
  let [since, last] = [Infinity, -Infinity];
  for (const pair of fault.pairs) {
    const isOfFault = fault.kind === 'Lossy' ? pair.quality !== 'Ok' : shows(fault, pair);
    if (!isOfFault) continue;
    since = Math.min(since, sinceOf(fault.kind, pair));
    last = Math.max(last, pair.last);
  }
  return { since, last };
}

class Rivals {
  readonly #faults: readonly Fault[];
  readonly #zones: Zones;
  readonly #groups: ReadonlyMap<string, Group>;
  readonly #times = new Map<string, OkTimes>();
  /** Pairs of the nodes that are at fault, by plane and node. */
  readonly #ofNodes: ReadonlyMap<string, readonly Pair[]>;

  constructor(faults: readonly Fault[], { groups, zones, pairs }: Measured) {
    this.#faults = faults;
    this.#zones = zones;
    this.#groups = new Map(groups.map((group) => [group.key, group]));
    this.#ofNodes = pairsOfNodes(faults, pairs);
  }

  agree(fault: Fault): boolean {
    const period = periodOf(fault);
    // Loss of which no pair is certain has no period.
    if (period.since > period.last) return true;
    if (this.#isOver(fault, period.last)) return false;
    return this.#largerThan(fault).every((times) => times.isEmpty || times.overlaps(period));
  }

  /** Whether a pair of the node or link works since the last measurement that showed the fault. Loss varies, so it does not count. */
  #isOver(fault: Fault, to: number): boolean {
    const { kind, plane, names } = fault.scope;
    if (fault.kind === 'Lossy') return false;
    if (kind === 'Link') return fault.pairs.some((pair) => (recoveredAt(fault.kind, pair) ?? -Infinity) > to);
    return isOfNode(kind) && this.#okOf({ kind: 'Node', plane, names }, fault).recoveredAfter(to);
  }

  #largerThan(fault: Fault): OkTimes[] {
    const { kind, plane, names } = fault.scope;
    const within = this.#enclosing(fault.scope).map((scope) => this.#okOf(scope, fault));
    // The echo goes both ways, so the other direction also fails, unless a fault began during the measurement.
    if (kind === 'Link') {
      const probedBefore = fault.pairs.filter(({ isFirst }) => !isFirst);
      return [...within, new OkTimes(probedBefore, fault.kind)];
    }
    if (!isOfNode(kind) || fault.kind === 'Mtu') return within;
    const other = plane === 'Pod' ? 'Host' : 'Pod';
    const isAtFault = this.#faults.some(({ scope }) => scope.plane === other && isSameNode(scope, names));
    return isAtFault ? within : [...within, this.#okOfNode(names[0] ?? '', other, fault.kind)];
  }

  #enclosing({ kind, plane, names }: Scope): Scope[] {
    const cluster: Scope = { kind: 'Cluster', plane, names: [] };
    if (kind === 'Cluster') return [];
    if (kind === 'Zone') return [cluster];
    if (kind === 'Zones') return [...names.map((name): Scope => ({ kind: 'Zone', plane, names: [name] })), cluster];
    const nodes = kind === 'Link' ? names.map((name): Scope => ({ kind: 'Node', plane, names: [name] })) : [];
    return [...nodes, ...zonesOf([...this.#groups.values()], names, this.#zones, plane), cluster];
  }

  #okOf(scope: Scope, fault: Fault): OkTimes {
    const key = keyOf(scope);
    const all = (): readonly Pair[] => this.#groups.get(key)?.pairs ?? [];
    if (fault.kind !== 'Mtu') return this.#cached(key, fault.kind, all);
    const { name, tells } = largePackets(scope, fault);
    return this.#cached(`${key} ${name}`, fault.kind, () => all().filter(tells));
  }

  #okOfNode(node: string, plane: Plane, kind: FaultKind): OkTimes {
    return this.#cached(`other ${plane} ${node}`, kind, () => this.#ofNodes.get(placeOf(node, plane)) ?? []);
  }

  #cached(name: string, kind: FaultKind, pairs: () => readonly Pair[]): OkTimes {
    const key = `${kind} ${name}`;
    const known = this.#times.get(key) ?? new OkTimes(pairs(), kind);
    this.#times.set(key, known);
    return known;
  }
}

/**
 * Returns which pairs of a larger scope than a fault of large packets show that the scope works. Pairs that send no such packets do
 * not, nor do pairs from a node to which packets are lost: its interface may have had a smaller MTU in the measurement before.
 *
 * @returns `name`: of the set of these pairs
 */
function largePackets({ kind, names }: Scope, fault: Fault): { name: string; tells: (pair: Pair) => boolean } {
  if (kind !== 'Node') return { name: '', tells: ({ worst }) => worst.mtu !== undefined };
  const bad = fault.pairs.filter(losesLarge);
  const bytes = passingBytes(bad);
  const sends = bad.some(({ from }) => from === names[0]);
  return {
    name: `${bytes} ${sends}`,
    tells: (pair) => sendsAbove(bytes, pair) && (sends || pair.from !== names[0]),
  };
}

function isOfNode(kind: Scope['kind']): boolean {
  return kind === 'Node' || kind === 'NodeIn' || kind === 'NodeOut';
}

function isSameNode({ kind, names }: Scope, [node]: readonly string[]): boolean {
  return isOfNode(kind) && names[0] === node;
}

function pairsOfNodes(faults: readonly Fault[], pairs: readonly Pair[]): Map<string, Pair[]> {
  const nodes = new Set(faults.flatMap(({ scope }) => (isOfNode(scope.kind) ? scope.names : [])));
  const found = new Map<string, Pair[]>();
  if (nodes.size === 0) return found;
  for (const pair of pairs) {
    for (const node of [pair.from, pair.to]) {
      if (!nodes.has(node)) continue;
      const place = placeOf(node, pair.plane);
      const known = found.get(place);
      if (known === undefined) found.set(place, [pair]);
      else known.push(pair);
    }
  }
  return found;
}

/**
 * Whether a pair shows that a fault of a kind did not affect it when it was measured.
 *
 * | fault | pair works |
 * |---|---|
 * | Failed | unless it is Failed: pairs may lose packets, or lack one address family, before the fault and after it |
 * | any other | if it is Ok |
 */
export function works(kind: FaultKind, { quality }: Pair): boolean {
  return kind === 'Failed' ? quality !== 'Failed' : quality === 'Ok';
}

/** Returns the start of the earliest measurement since which the pair works, or fails, without a change: see `works`. */
function sinceOf(kind: FaultKind, { since, failedSince }: Pair): number {
  return kind === 'Failed' ? failedSince : since;
}

/**
 * Returns when a pair began to work again: the start of its last measurement. Undefined if it worked before, or does not work, or if
 * that is not certain: a pair that is new in the rotation may have worked all the time, and loss may be as heavy as before,
 * with some datagrams passing by chance.
 */
export function recoveredAt(kind: FaultKind, pair: Pair): number | undefined {
  const isCertain = works(kind, pair) && pair.quality !== 'Lossy' && !pair.isFirst;
  return isCertain && sinceOf(kind, pair) === pair.last ? pair.last : undefined;
}

/** When the pairs of a scope worked, as far as faults of a kind are concerned. */
class OkTimes {
  /** Sorted by `since`, from which on it is certain; `latest` is the greatest `last` up to there. */
  readonly #periods: readonly { readonly since: number; readonly latest: number }[];
  readonly #measured: ReadonlySet<number>;
  readonly #lastRecovery: number;

  constructor(pairs: readonly Pair[], kind: FaultKind) {
    const working = pairs.filter((pair) => works(kind, pair));
    const periods = working
      .map((pair) => ({ since: certainSince({ since: sinceOf(kind, pair), last: pair.last }), latest: pair.last }))
      .sort((a, b) => a.since - b.since);
    let latest = -Infinity;
    for (const period of periods) {
      latest = Math.max(latest, period.latest);
      period.latest = latest;
    }
    this.#measured = new Set(working.map(({ last }) => last));
    this.#periods = periods;
    this.#lastRecovery = working.reduce((most, pair) => Math.max(most, recoveredAt(kind, pair) ?? most), -Infinity);
  }

  get isEmpty(): boolean {
    return this.#periods.length === 0;
  }

  /**
   * Whether any of the pairs worked at a time of the period. Results of the same measurement were true at the same time. The
   * cost is logarithmic: there may be many faults of large scopes.
   */
  overlaps(period: Period): boolean {
    const { last: to } = period;
    if (this.#measured.has(to)) return true;
    let [low, high] = [0, this.#periods.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#periods[middle]?.since ?? Infinity) <= to) low = middle + 1;
      else high = middle;
    }
    return (this.#periods[low - 1]?.latest ?? -Infinity) >= certainSince(period);
  }

  /** Whether a pair works only since a time: it did not before, or its agent had not measured. */
  recoveredAfter(time: number): boolean {
    return this.#lastRecovery > time;
  }
}
