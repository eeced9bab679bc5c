import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { Period } from '../pairs/period.ts';
import { placeOf, type AgentsByPlace, type Pair } from '../pairs/pair.ts';
import type { Steps } from '../steps.ts';
import { isDirectionKnown } from './direction.ts';
import { shows, type Fault, type FaultKind } from './faults.ts';
import { keyOf, zonesOf, type Group, type Scope, type Zones } from './scope.ts';
import { OkTimes } from './okTimes.ts';
import { recoveredAt, sinceOf } from './working.ts';

/** The measurements that `settled` compares faults with. */
export interface Measured {
  readonly pairs: readonly Pair[];
  readonly groups: readonly Group[];
  readonly zones: Zones;
  readonly agents: AgentsByPlace;
}

/**
 * The faults that all measurements agree upon. Agents measure one after the other, so when a fault begins or ends, the
 * last measurements of some are older, and what is at fault seems smaller than it is: a link instead of a node.
 *
 * A fault is settled if each larger scope that could be at fault instead was seen to work in the same period:
 *
 * | fault | larger scopes |
 * |---|---|
 * | link | its other direction, both nodes, their zones, the cluster |
 * | node | the same node on the other plane, its zones, the cluster |
 * | zones | each zone, the cluster |
 * | zone | the cluster |
 *
 * Of two agents with the same interval, the periods of the last two measurements always overlap. So every fault that
 * lasts is settled when all agents have measured it once.
 */
export function* settled(faults: readonly Fault[], measured: Measured): Steps<ReadonlySet<Fault>> {
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
  #isOver({ kind: how, scope, pairs }: Fault, to: number): boolean {
    const { kind, plane, names } = scope;
    if (how === 'Lossy') return false;
    if (kind === 'Link') return pairs.some((pair) => (recoveredAt(how, pair) ?? -Infinity) > to);
    return isOfNode(kind) && this.#okOf({ kind: 'Node', plane, names }, how).recoveredAfter(to);
  }

  #largerThan(fault: Fault): OkTimes[] {
    const { kind, plane, names } = fault.scope;
    const within = this.#enclosing(fault.scope).map((scope) => this.#okOf(scope, fault.kind));
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

  #okOf(scope: Scope, kind: FaultKind): OkTimes {
    const key = keyOf(scope);
    return this.#cached(key, kind, () =>
      (this.#groups.get(key)?.pairs ?? []).filter(({ worst }) => kind !== 'Mtu' || worst.mtu !== undefined),
    );
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
