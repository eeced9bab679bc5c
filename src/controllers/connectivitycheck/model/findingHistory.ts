import { CLUSTER, type Finding, type FindingClass } from '../../../api/connectivitycheck/finding.ts';
import { namesIn } from './subjects.ts';

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
/**
 * A finding that began this often comes and goes. To return once is chance: one of many reports had little loss. A fault that
 * has ended is then cleared at once.
 */
const STARTS = 3;
/** From a report to the evaluation that the operator sees, at most, and until a probe has ended: ms. */
const LATE_MS = 10_000;

/** The record of a finding with one severity in the last evaluations. */
interface FindingRecord {
  readonly finding: Finding & Fault;
  /** When an evaluation last had it, monotonic ms. */
  readonly at: number;
  /** The last evaluation has it. */
  readonly isPresent: boolean;
  /** When it began to be there, monotonic ms: the first STARTS times, without those that a Failed finding explains. */
  readonly starts: readonly number[];
}

/** The records of one check, by severity, class and `faultId`. */
export type FindingHistory = ReadonlyMap<string, FindingRecord>;

/**
 * Remembers which findings the last evaluations had.
 *
 * | before                              | now   | record                    |
 * | ----------------------------------- | ----- | ------------------------- |
 * | none, or gone for longer            | found | present, one start        |
 * | present                             | found | present                   |
 * | gone for less than BACK_WITHIN_MS   | found | present, one start more   |
 * | present, or gone for less than that | gone  | gone                      |
 * | gone for longer                     | gone  | none                      |
 *
 * Agents measure one after the other, so in the interval in which a fault begins or ends some reports have partial loss,
 * and a smaller Degraded finding may be there for a moment. A start up to two intervals before or after a Failed finding that
 * explains it does not count: see `mayExplain`.
 *
 * @param now monotonic ms
 * @param intervalMs the time between two reports of an agent
 */
export function findingHistoryOf(
  before: FindingHistory,
  findings: readonly Finding[],
  { now, intervalMs }: { readonly now: number; readonly intervalMs: number },
): FindingHistory {
  const recent = new Map([...before].filter(([, { at }]) => now - at <= BACK_WITHIN_MS));
  const history = new Map([...recent].map(([key, record]) => [key, { ...record, isPresent: false }]));
  for (const finding of findings) {
    const key = keyOf(finding);
    const { isPresent = false, starts = [] } = recent.get(key) ?? {};
    const began = isPresent ? starts : [...starts, now].slice(0, STARTS);
    history.set(key, { finding, at: now, isPresent: true, starts: began });
  }
  return withoutExplained(history, now, Math.min(2 * intervalMs + LATE_MS, BACK_WITHIN_MS));
}

/** Removes the starts of Degraded findings from `nearMs` before the last time of a Failed finding that explains them on. */
function withoutExplained(history: FindingHistory, now: number, nearMs: number): FindingHistory {
  const records = [...history];
  const failed = records.flatMap(([, record]) =>
    record.finding.severity === 'Failed' && now - record.at <= nearMs ? [record] : [],
  );
  if (failed.length === 0) return history;
  return new Map(
    records.map(([key, record]) => {
      if (record.finding.severity !== 'Degraded') return [key, record];
      const whole = failed.filter(({ finding }) => mayExplain(finding, record.finding));
      const starts = record.starts.filter((start) => whole.every(({ at }) => start < at - nearMs));
      return [key, { ...record, starts }];
    }),
  );
}

/**
 * Whether a fault may show as another finding while it begins or ends:
 *
 * | fault | findings |
 * |---|---|
 * | of a zone, of two, or of the cluster | any |
 * | of a node | any that names the node |
 * | of a link | of the class Link, of the same nodes: loss makes links fail for a moment, and is no part of that |
 * | any | the same one |
 */
function mayExplain(whole: Finding & Fault, part: Finding & Fault): boolean {
  if (whole.class === 'Zone' || whole.subjects.includes(CLUSTER) || isSameFault(whole, part)) return true;
  const names = new Set(part.subjects.flatMap(namesIn));
  const [named, isNamed] = [whole.subjects.flatMap(namesIn), (name: string) => names.has(name)];
  return whole.class === 'Link' ? part.class === 'Link' && named.every(isNamed) : named.some(isNamed);
}

/** Whether a finding comes and goes, so that it is expected back when the last evaluation lacks it. */
export function isIntermittent(finding: Finding & Fault, history: FindingHistory): boolean {
  const { starts = [] } = history.get(keyOf(finding)) ?? {};
  return finding.severity === 'Degraded' && starts.length >= STARTS;
}

function keyOf(finding: Finding & Fault): string {
  return `${finding.severity}/${finding.class}/${finding.id ?? faultId(finding)}`;
}
