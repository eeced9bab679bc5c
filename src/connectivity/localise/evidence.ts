import type { Evidence, Severity } from '../../api/connectivitycheck/finding.ts';
import type { Plane } from '../../api/connectivitycheck/terms.ts';
import { shows, type Fault } from './faults/faults.ts';
import { shareOf, sum, type Loss } from './faults/statistics.ts';
import { flawedFamily, over, type Family, type FamilyResult } from './pairs/quality.ts';
import type { Pair } from './pairs/pair.ts';

const MOST_PAIRS = 3;

export const NO_EVIDENCE: Evidence = { affectedPairs: 0, observedPairs: 0, pairs: [] };

/** Returns the evidence of a fault of the network: how many pairs of nodes show it, and some of them as examples. */
export function evidenceOf(fault: Fault): Evidence {
  const affected = affectedBy(fault);
  // A pair that fails over all families does not show that it is one.
  const rank = ({ quality }: Pair): number => Number(fault.family !== undefined && quality !== fault.kind);
  const examples = [...affected]
    .sort((a, b) => rank(a) - rank(b) || compare(a.from, b.from) || compare(a.to, b.to))
    .slice(0, MOST_PAIRS);
  const evidence: Evidence = {
    affectedPairs: affected.length,
    observedPairs: fault.pairs.length,
    pairs: examples.map((pair) => ({ from: pair.from, to: pair.to, plane: pair.plane, measured: measuredOf(pair) })),
  };
  if (fault.kind === 'Slow') return evidence;
  if (fault.kind === 'Mtu') return { ...evidence, largestPacketBytes: largestOf(affected) };
  const losses = affected.flatMap((pair): Loss[] =>
    fault.family === undefined ? [pair] : overFamily(fault.family, pair),
  );
  return { ...evidence, lossPercent: Math.round(shareOf(sum(losses)) * 100) };
}

/** Returns the pairs that show the fault. In a lossy scope, all pairs that lost a datagram. */
function affectedBy(fault: Fault): Pair[] {
  return fault.pairs.filter((pair) => (fault.kind === 'Lossy' ? pair.lost > 0 : shows(fault, pair)));
}

function overFamily(family: Family, pair: Pair): Loss[] {
  const result = over(family, pair);
  return result === undefined ? [] : [result];
}

/**
 * Returns the evidence of two parts of a finding: about two planes, or about two faults on one plane, such as some pairs that fail and others
 * that lose packets. Two faults on one plane may share pairs, so the larger number counts then.
 */
export function joined(a: Evidence, b: Evidence): Evidence {
  const isOnePlane = a.pairs.some(({ plane }) => b.pairs.some((pair) => pair.plane === plane));
  const total = (one: number, other: number): number => (isOnePlane ? Math.max(one, other) : one + other);
  const others = b.pairs.filter(({ from, to, plane }) => !a.pairs.some((pair) => isPair(pair, from, to, plane)));
  const largest = [a, b].flatMap(({ largestPacketBytes }) => largestPacketBytes ?? []);
  const losses = [a, b].flatMap(({ lossPercent }) => lossPercent ?? []);
  return {
    affectedPairs: total(a.affectedPairs, b.affectedPairs),
    observedPairs: total(a.observedPairs, b.observedPairs),
    pairs: [...a.pairs, ...others].slice(0, MOST_PAIRS),
    ...(losses.length > 0 && { lossPercent: Math.max(...losses) }),
    ...(largest.length > 0 && { largestPacketBytes: Math.min(...largest) }),
  };
}

function isPair(pair: Evidence['pairs'][number], from: string, to: string, plane: string): boolean {
  return pair.from === from && pair.to === to && pair.plane === plane;
}

export function severityOf({ kind }: Fault): Severity {
  return kind === 'Failed' ? 'Failed' : 'Degraded';
}

/**
 * Returns a text such as `4 of 4 pairs fail (TCP timeout, UDP 0 of 20 echoed)`, or `2 of 2 pairs lose packets over IPv6, 30 % of all` if
 * the other family has no flaw.
 */
export function symptomOf(fault: Fault): string {
  const { affectedPairs, observedPairs, pairs, lossPercent, largestPacketBytes } = evidenceOf(fault);
  const count = `${affectedPairs} of ${observedPairs} pairs`;
  if (fault.kind === 'Lossy') return `${count} lose packets${overOf(fault)}, ${lossPercent ?? 0} % of all`;
  if (fault.kind === 'Mtu') return `${count} lose packets larger than ${largestPacketBytes ?? 0} bytes${overOf(fault)}`;
  if (fault.kind === 'Slow') return `${count} are slow${overOf(fault)}, round trips of up to ${slowestOf(fault)} ms`;
  return `${count} fail (${pairs[0]?.measured ?? 'no answer'})`;
}

/** Returns ` over FAMILY` if all pairs that show the fault show it over the same family; '' otherwise. */
function overOf(fault: Fault): string {
  const families = new Set(fault.pairs.filter((pair) => shows(fault, pair)).map(flawedFamily));
  const [family] = families;
  return families.size === 1 && family !== undefined ? ` over ${family}` : '';
}

/**
 * Returns the measurement as text, such as `TCP timeout, UDP 0 of 20 echoed`. If the families differ, each has its name:
 * `IPv6: TCP timeout, UDP 0 of 20 echoed; IPv4 works`.
 */
function measuredOf({ worst, quality, families = [] }: Pair): string {
  const isSame = families.every((one) => one.quality === families[0]?.quality);
  if (isSame) return wordsOf({ worst, quality });
  return families
    .map((one) => (one.quality === 'Ok' ? `${one.family} works` : `${one.family}: ${wordsOf(one)}`))
    .join('; ');
}

function wordsOf({ worst, quality }: Pick<FamilyResult, 'worst'> & Pick<Pair, 'quality'>): string {
  const { tcp, udp, mtu } = worst;
  const words = [
    tcp.ok ? 'TCP ok' : `TCP ${wordOf(tcp.error ?? 'Other')}`,
    `UDP ${udp.received} of ${udp.sent} echoed`,
  ];
  if (quality === 'Slow') words.push(`round trip ${Math.round(udp.ms ?? 0)} ms`);
  if (quality === 'Mtu' && mtu) words.push(`largest packet ${mtu.largest} of ${mtu.interface} bytes`);
  return words.join(', ');
}

/** The word for an error, in a sentence. */
export function wordOf(error: string): string {
  return error === 'Other' ? 'error' : error.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

export function networkOf(plane: Plane): string {
  return plane === 'Pod' ? 'pod network' : 'host network';
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function slowestOf({ pairs }: Fault): number {
  return Math.round(
    Math.max(...pairs.flatMap((pair) => (pair.families ?? [pair]).map(({ worst }) => worst.udp.ms ?? 0))),
  );
}

function largestOf(pairs: readonly Pair[]): number {
  return Math.min(...pairs.flatMap(({ worst }) => worst.mtu?.largest ?? []));
}
