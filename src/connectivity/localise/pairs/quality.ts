import type { PeerResult } from '../../protocol/measurement.ts';

/** How a node can reach one address of a peer. */
export type Quality = 'Failed' | 'Lossy' | 'Slow' | 'Mtu' | 'Ok';

/** The limits from which on an address of a peer has a flaw. */
export interface Limits {
  /** Lost datagrams, percent. */
  readonly lossPercent: number;
  /** Median round trip, ms. Absent: no pair is slow. */
  readonly slowMs?: number | undefined;
}

/**
 * The quality of one address of a peer.
 *
 * | TCP | UDP | largest packet | quality |
 * |---|---|---|---|
 * | Refused or Reset | any | | Ok, Slow or Mtu as below |
 * | any | Refused | | Ok, Slow or Mtu as below |
 * | any other | none echoed | | Failed |
 * | any other | `lossPercent` lost, and 2 datagrams or more | | Lossy |
 * | Timeout | fewer lost, round trips of a second or more | | Slow: a request over TCP takes several of them |
 * | Timeout, Unreachable or other | fewer lost | | Failed |
 * | ok | fewer lost, and round trips of `slowMs` or more | | Slow |
 * | ok | fewer lost | below the interface's | Mtu |
 * | ok | fewer lost | the interface's, or unknown | Ok |
 *
 * Refused and Reset are answers of the peer: its network works, although the agent may not. If the network rejects the
 * probes, they count as not answered: see refusalOf().
 * With loss, large packets that vanish say nothing about the MTU.
 * One lost datagram does not count as loss: it happens in every network.
 */
export function qualityOf(peer: ReadResult, { lossPercent, slowMs = Infinity }: Limits): Quality {
  if (udpFailed(peer)) return 'Failed';
  if (lostShare(peer) * 100 >= lossPercent && lostOf(peer) >= 2) return 'Lossy';
  const { tcp, udp } = peer;
  const isLate = tcp.error === 'Timeout' && (udp.ms ?? 0) >= LATE_MS;
  if (tcpFailed(peer) && !isLate) return 'Failed';
  if (isLate || (udp.ms ?? 0) >= slowMs) return 'Slow';
  return hasBlackHole(peer) ? 'Mtu' : 'Ok';
}

/** Whether the round trips are slow, also if packets are lost. Undefined if there is none: a refusal does not show how fast the network is. */
export function isSlow(peer: ReadResult, { slowMs = Infinity }: Limits): boolean | undefined {
  const { ms } = peer.udp;
  return ms === undefined || refused(peer) ? undefined : ms >= slowMs;
}

/** The round trip from which on a request over TCP may take longer than agents wait for it, ms. */
const LATE_MS = 1_000;

/** A result, with its meaning. */
export interface ReadResult extends PeerResult {
  /** The network refused it, and not the host of the peer. */
  readonly isRejected?: true;
}

/** The peer's host answered that no agent listens, or that the agent went away. */
export function refused({ tcp, udp, isRejected }: ReadResult): boolean {
  if (isRejected === true) return false;
  return tcp.error === 'Refused' || tcp.error === 'Reset' || udp.error === 'Refused';
}

/**
 * Datagrams that were sent and not echoed. None if the peer's host refused TCP or UDP: nobody was there to echo them, and
 * not every system reports the refusal of datagrams.
 */
export function lostOf(peer: ReadResult): number {
  return refused(peer) ? 0 : Math.max(0, peer.udp.sent - peer.udp.received);
}

function lostShare(peer: ReadResult): number {
  return peer.udp.sent > 0 ? lostOf(peer) / peer.udp.sent : 0;
}

/** Whether UDP shows a failed network. A refusal over TCP or UDP is an answer, so the agent is silent then, and not the network. */
function udpFailed(peer: ReadResult): boolean {
  const { udp } = peer;
  if (refused(peer)) return false;
  return udp.received === 0 && (udp.sent > 0 || udp.error !== undefined);
}

function tcpFailed(peer: ReadResult): boolean {
  return !peer.tcp.ok && !refused(peer);
}

function hasBlackHole({ mtu }: PeerResult): boolean {
  return mtu !== undefined && mtu.largest < mtu.interface;
}

/** The address families of IP. */
export const FAMILIES = ['IPv4', 'IPv6'] as const;
export type Family = (typeof FAMILIES)[number];

/** The family of an IP address, with or without brackets and port. Only IPv6 has two colons. */
export function familyOf(address: string): Family {
  return address.indexOf(':') === address.lastIndexOf(':') ? 'IPv4' : 'IPv6';
}

/** How a pair of nodes can reach each other, over all families. FamilyFailed: one family fails, and another does not. */
export type PairQuality = Quality | 'FamilyFailed';

/** Numbers of datagrams. */
interface Datagrams {
  readonly sent: number;
  readonly lost: number;
}

/** A measurement towards a peer over one family. A pod has one address of a family; of several, the worst counts. */
export interface FamilyResult extends Datagrams {
  readonly family: Family;
  readonly quality: Quality;
  readonly worst: ReadResult;
  readonly refused: boolean;
  /** See isSlow(). */
  readonly isSlow?: boolean | undefined;
}

/** A measurement towards a peer over all families. */
export interface Rating extends Datagrams {
  readonly quality: PairQuality;
  /** The result of the worst family. */
  readonly worst: ReadResult;
  /** The peer's host answered, on any address, that no agent listens. */
  readonly refused: boolean;
  /** Round trips over a family are slow: see isSlow(). Undefined if there is none over any. */
  readonly isSlow?: boolean | undefined;
  /** One result for each family, the worst first. Absent if the peer has one address. */
  readonly families?: readonly FamilyResult[];
}

/**
 * Adds the result of one more address of the same peer.
 *
 * | families | quality | datagrams |
 * |---|---|---|
 * | one, with several addresses | of the worst address | of all addresses |
 * | all fail | Failed | of all families |
 * | one fails, and another does not | FamilyFailed | of the families that work: the failed one says nothing about loss |
 * | none fails | of the worst family | of all families |
 */
export function withAddress<T extends Rating>(known: T, peer: ReadResult, limits: Limits): T {
  const results = known.families ?? [resultOf(known.worst, limits)];
  return { ...known, ...ratingOf(withResult(results, resultOf(peer, limits))) };
}

function resultOf(peer: ReadResult, limits: Limits): FamilyResult {
  return {
    family: familyOf(peer.address),
    quality: qualityOf(peer, limits),
    sent: peer.udp.sent,
    lost: lostOf(peer),
    refused: refused(peer),
    isSlow: isSlow(peer, limits),
    worst: peer,
  };
}

function withResult(results: readonly FamilyResult[], added: FamilyResult): FamilyResult[] {
  const known = results.find(({ family }) => family === added.family);
  if (known === undefined) return [...results, added];
  const both = { ...worseOf(known, added), ...total([known, added]), isSlow: anySlow([known, added]) };
  return results.map((one) => (one === known ? both : one));
}

function ratingOf(results: readonly FamilyResult[]): Rating {
  const families = [...results].sort((a, b) => ORDER.indexOf(a.quality) - ORDER.indexOf(b.quality));
  const others = families.filter(({ quality }) => quality !== 'Failed');
  const isPartial = others.length > 0 && others.length < families.length;
  const worst = families.reduce(worseOf);
  return {
    ...total(isPartial ? others : families),
    quality: isPartial ? 'FamilyFailed' : worst.quality,
    worst: worst.worst,
    refused: families.some((one) => one.refused),
    // The family that fails may be the one that is slow.
    isSlow: isPartial && anySlow(families) === false ? undefined : anySlow(families),
    families,
  };
}

function anySlow(results: readonly FamilyResult[]): boolean | undefined {
  const known = results.flatMap((one) => one.isSlow ?? []);
  return known.length === 0 ? undefined : known.includes(true);
}

/** Worst first. */
const ORDER: readonly Quality[] = ['Failed', 'Lossy', 'Slow', 'Mtu', 'Ok'];

function worseOf(one: FamilyResult, other: FamilyResult): FamilyResult {
  return ORDER.indexOf(other.quality) < ORDER.indexOf(one.quality) ? other : one;
}

function total(results: readonly FamilyResult[]): Datagrams & { readonly refused: boolean } {
  return {
    sent: results.reduce((sum, { sent }) => sum + sent, 0),
    lost: results.reduce((sum, { lost }) => sum + lost, 0),
    refused: results.some((one) => one.refused),
  };
}

/** Returns the measurement over one family. Undefined if the peer has no address of it. */
export function over(family: Family, rating: Rating): Pick<FamilyResult, 'quality' | 'sent' | 'lost'> | undefined {
  const { families, quality, worst, sent, lost } = rating;
  if (families !== undefined) return families.find((one) => one.family === family);
  // A peer with one address has one family, so its quality is not FamilyFailed.
  return familyOf(worst.address) === family && quality !== 'FamilyFailed' ? { quality, sent, lost } : undefined;
}

/** The families that were measured. */
export function familiesOf({ families, worst }: Rating): readonly Family[] {
  return families?.map(({ family }) => family) ?? [familyOf(worst.address)];
}

export function failsOver(family: Family, rating: Rating): boolean {
  return over(family, rating)?.quality === 'Failed';
}

/** The only family with a flaw, if the others have none. Undefined if the peer has addresses of one family only. */
export function flawedFamily({ families = [] }: Pick<Rating, 'families'>): Family | undefined {
  const [flawed, ...others] = families.filter(({ quality }) => quality !== 'Ok');
  return families.length > 1 && others.length === 0 ? flawed?.family : undefined;
}
