import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { Pair } from '../pairs/pair.ts';
import type { Scope, Zones } from './scope.ts';
import { scoreByShare, type Score, type Witness } from './score.ts';

/** A search for the largest packet ends at most so many bytes below it, up to an MTU of 9,000: see agent/udp/mtuSearch.ts. */
const SEARCH_STEP = 4;

/** The MTUs of the interfaces by which the agents of the pairs searched, bytes. */
export class InterfaceMtus {
  readonly #mtus: Readonly<Record<Plane, Map<string, number>>> = { Pod: new Map(), Host: new Map() };
  readonly #common: Readonly<Record<Plane, number | undefined>>;

  constructor(pairs: readonly Pair[]) {
    for (const { from, plane, worst, families = [] } of pairs) {
      const mtu = worst.mtu ?? families.find((family) => family.worst.mtu !== undefined)?.worst.mtu;
      if (mtu !== undefined) this.#mtus[plane].set(from, mtu.interface);
    }
    this.#common = { Pod: commonOf(this.#mtus.Pod.values()), Host: commonOf(this.#mtus.Host.values()) };
  }

  /** Returns undefined if the agent of the node did not report it. */
  of(node: string, plane: Plane): number | undefined {
    return this.#mtus[plane].get(node);
  }

  /** Whether the MTU of a node differs from the MTU of more nodes than any other. */
  isOdd(node: string, plane: Plane): boolean {
    const [own, common] = [this.of(node, plane), this.#common[plane]];
    return own !== undefined && common !== undefined && own !== common;
  }
}

/** Returns the value of most nodes. Undefined if only one node has it, or as many have another. */
function commonOf(mtus: Iterable<number>): number | undefined {
  const nodes = new Map<number, number>();
  for (const mtu of mtus) nodes.set(mtu, (nodes.get(mtu) ?? 0) + 1);
  const [first, second] = [...nodes].sort(([, a], [, b]) => b - a);
  const isCommon = first !== undefined && first[1] >= 2 && first[1] > (second?.[1] ?? 0);
  return isCommon ? first[0] : undefined;
}

/** Whether a pair loses large packets, and small packets pass. */
export function losesLarge({ quality }: Pair): boolean {
  return quality === 'Mtu';
}

/** Returns the size of packets that a fault lets pass: pairs that sent no larger packet say nothing about it. Bytes. */
export function passingBytes(bad: readonly Pair[]): number {
  return bad.reduce((most, { worst }) => Math.max(most, worst.mtu?.largest ?? 0), 0) + SEARCH_STEP;
}

/** Whether a pair sent packets above a size. */
export function sendsAbove(bytes: number, { worst }: Pair): boolean {
  return worst.mtu !== undefined && worst.mtu.interface > bytes;
}

/**
 * Scores a scope by the pairs that lose large packets. Where the interfaces of nodes have different MTUs, only one direction
 * loses them: no node sends packets that are larger than its own MTU. So some pairs that lose none say nothing:
 *
 * | scope | says nothing |
 * |---|---|
 * | any | a pair that fails or loses small packets, or whose MTU was not measured |
 * | NodeIn, and Node if pairs to it lose large packets | a pair to the node that sent no packet above the size that passes |
 * | NodeOut, if all of its bad pairs end at nodes with a smaller MTU | a pair to a node with the same MTU or a larger one |
 * | Zone, Zones | all pairs of a direction, if none of them sent a packet above the size that passes |
 *
 * One pair is enough to name the node whose MTU differs from the MTU of most nodes.
 */
export function scoreByMtu(pairs: readonly Pair[], zones: Zones, witness: Witness): Score {
  if (!pairs.some(losesLarge)) return () => undefined;
  const mtus = new InterfaceMtus(pairs);
  const isOdd: Witness = ({ kind, plane, names: [node = ''] }, bad) =>
    (kind === 'NodeIn' || kind === 'NodeOut') && mtus.isOdd(node, plane) && bad.every((pair) => isMismatch(pair, mtus));
  const byShare = scoreByShare(
    losesLarge,
    () => false,
    zones,
    (scope, bad) => witness(scope, bad) || isOdd(scope, bad),
  );
  return (scope, own) => {
    const measured = own.filter(saysSomething);
    const bad = measured.filter(losesLarge);
    if (bad.length === 0) return undefined;
    const silent = saysNothing(scope, measured, bad, zones, mtus);
    return byShare(
      scope,
      measured.filter((pair) => losesLarge(pair) || !silent(pair)),
    );
  };
}

function saysSomething({ quality, worst }: Pair): boolean {
  return quality !== 'Failed' && quality !== 'Lossy' && worst.mtu !== undefined;
}

function saysNothing(
  { kind, names }: Scope,
  measured: readonly Pair[],
  bad: readonly Pair[],
  zones: Zones,
  mtus: InterfaceMtus,
): (pair: Pair) => boolean {
  const [name] = names;
  const bytes = passingBytes(bad);
  if (kind === 'NodeOut') {
    const isTaken = ({ to, plane, worst }: Pair) => (mtus.of(to, plane) ?? 0) >= (worst.mtu?.interface ?? Infinity);
    return bad.every((pair) => isMismatch(pair, mtus)) ? isTaken : () => false;
  }
  if (kind === 'Node' || kind === 'NodeIn') {
    const isSeen = bad.some(({ to }) => to === name);
    return (pair) => isSeen && pair.to === name && !sendsAbove(bytes, pair);
  }
  if (kind === 'Cluster') return () => false;
  const goesIn = ({ to }: Pair) => zones.get(to) === name;
  const isTold = (isIn: boolean) => measured.some((pair) => goesIn(pair) === isIn && sendsAbove(bytes, pair));
  const told = { in: isTold(true), out: isTold(false) };
  return (pair) => !(goesIn(pair) ? told.in : told.out);
}

/** Whether the packets that a pair loses are the packets that do not fit through the interface of its receiver. */
export function isMismatch({ to, plane, worst: { mtu } }: Pair, mtus: InterfaceMtus): boolean {
  const receiver = mtus.of(to, plane);
  if (mtu === undefined || receiver === undefined || receiver >= mtu.interface) return false;
  return mtu.largest <= receiver && mtu.largest >= receiver - SEARCH_STEP;
}
