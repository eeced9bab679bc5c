import type { Finding, FindingClass } from '../../../api/connectivitycheck/finding.ts';

/** The identity of a finding from one evaluation to the next, in the findings and in the outages of a status. */
export interface Fault {
  readonly class: FindingClass;
  readonly subjects: readonly string[];
  /** `faultId` of the class and the full subjects. A status may have shortened subjects, which many faults share. */
  readonly id?: string | undefined;
}

/** Characters of an identifier: 36 bits, so that a thousand faults share one with a probability of 1 in 100,000. */
const ID_CHARACTERS = 7;
const ID_VALUES = 36 ** ID_CHARACTERS;

/** Identifies a fault by its class and its full subjects: seven letters and digits. */
export function faultId({ class: one, subjects }: Fault): string {
  const value = hash53([one, ...subjects].join('\n')) % ID_VALUES;
  return value.toString(36).padStart(ID_CHARACTERS, '0');
}

/** Whether two faults are the same. A fault without an identifier has its full subjects. */
export function isSameFault(a: Fault, b: Fault): boolean {
  return a.class === b.class && (a.id ?? faultId(a)) === (b.id ?? faultId(b));
}

/** Returns a hash of 53 bits (cyrb53). It protects nothing, so it need not be cryptographic. */
function hash53(text: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let place = 0; place < text.length; place++) {
    const code = text.charCodeAt(place);
    a = Math.imul(a ^ code, 2_654_435_761);
    b = Math.imul(b ^ code, 1_597_334_677);
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909);
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909);
  return 4_294_967_296 * (2_097_151 & b) + (a >>> 0);
}

/** A Degraded finding that comes back within this time is the same finding; after it, a new one: ms. */
export const BACK_WITHIN_MS = 10 * 60_000;
/** Once is chance: one of many reports had little loss. A fault that has ended is then cleared at once. */
const RETURNS = 2;

/** The record of a Degraded finding in the last evaluations. */
interface FindingRecord {
  /** When an evaluation last had it, monotonic ms. */
  readonly at: number;
  /** The last evaluation has it. */
  readonly isPresent: boolean;
  /** How often it was gone and came back. */
  readonly returns: number;
}

/** The records of one check, by class and `faultId`. */
export type FindingHistory = ReadonlyMap<string, FindingRecord>;

/**
 * Remembers which Degraded findings the last evaluations had.
 *
 * | before                             | now   | record                    |
 * | ---------------------------------- | ----- | ------------------------- |
 * | none, or gone for longer           | found | present                   |
 * | present                            | found | present                   |
 * | gone for less than BACK_WITHIN_MS  | found | present, one return more  |
 * | present, or gone for less than that | gone | gone                      |
 * | gone for longer                    | gone  | none                      |
 *
 * @param now monotonic ms
 */
export function findingHistoryOf(before: FindingHistory, findings: readonly Finding[], now: number): FindingHistory {
  const kept = [...before].filter(([, { at }]) => now - at <= BACK_WITHIN_MS);
  const history = new Map(kept.map(([key, record]) => [key, { ...record, isPresent: false }]));
  const recent = new Map(kept);
  for (const finding of findings.filter(({ severity }) => severity === 'Degraded')) {
    const { isPresent = true, returns = 0 } = recent.get(keyOf(finding)) ?? {};
    history.set(keyOf(finding), { at: now, isPresent: true, returns: returns + (isPresent ? 0 : 1) });
  }
  return history;
}

/** Whether a finding comes and goes, so that it is expected back when the last evaluation lacks it. */
export function isIntermittent(finding: Finding & Fault, history: FindingHistory): boolean {
  const { returns = 0 } = history.get(keyOf(finding)) ?? {};
  return finding.severity === 'Degraded' && returns >= RETURNS;
}

function keyOf(fault: Fault): string {
  return `${fault.class}/${fault.id ?? faultId(fault)}`;
}
