import type { StatedCapacity } from '../../nodes/statedCapacity.ts';

/** A capacity in bytes per second, or the reason why the text is invalid. */
type ParsedCapacity = { bytesPerSecond: number } | { problem: string };

/** Bits per second of each unit. Units are decimal, as in `tc` and in the data sheets of NICs. Smallest first. */
const UNITS = [
  ['bit', 1],
  ['kbit', 1e3],
  ['Mbit', 1e6],
  ['Gbit', 1e9],
  ['Tbit', 1e12],
] as const;
const BITS_PER_BYTE = 8;
const BITS_PER_SECOND: ReadonlyMap<string, number> = new Map(UNITS.map(([name, bits]) => [name.toLowerCase(), bits]));
const FORM = /^(\d+(?:\.\d+)?) ?(t|g|m|k)?bit(?:\/s)?$/i;
const LONGEST_QUOTE = 40;

/**
 * Parses the capacity of a node's network as a user writes it: "25Gbit", "2.5gbit/s", "800 Mbit". The units are those
 * of `tc` (man tc, "RATES"), in any case. The unit "bps" is not allowed: `tc` means bytes per second, but most people
 * read bits per second.
 *
 * @returns bytes per second, always finite and above 0; otherwise a problem that names the value and what is allowed.
 */
export function parseCapacity(text: string): ParsedCapacity {
  const match = FORM.exec(text.trim());
  const unit = `${match?.[2] ?? ''}bit`.toLowerCase();
  const bytesPerSecond = (Number(match?.[1]) * (BITS_PER_SECOND.get(unit) ?? NaN)) / BITS_PER_BYTE;
  if (Number.isFinite(bytesPerSecond) && bytesPerSecond > 0) return { bytesPerSecond };
  return {
    problem:
      `${quote(text)} is invalid: it must be a decimal number above 0 with one of the units ` +
      'bit, kbit, Mbit, Gbit, Tbit, such as "25Gbit" or "2.5Gbit/s"',
  };
}

/**
 * Parses the capacity that a Node, or a TrafficWatch about it, states.
 *
 * | source     | form                                                                             |
 * |------------|----------------------------------------------------------------------------------|
 * | Spec       | as `parseCapacity`                                                               |
 * | Annotation | as `parseCapacity`                                                               |
 * | Label      | a decimal number of Mbit/s, or as `parseCapacity`. Karpenter writes whole Mbit/s: |
 * |            | https://karpenter.sh/docs/reference/instance-types/                              |
 *
 * @returns a problem is a sentence that names the field, annotation or label, its value and what is allowed
 */
export function parseStated({ source, key, text }: StatedCapacity): ParsedCapacity {
  if (source === 'Spec') return withSubject(key, parseCapacity(text));
  if (source === 'Annotation') return withSubject('the capacity annotation', parseCapacity(text));
  const parsed = parseCapacity(BARE_NUMBER.test(text) ? `${text}Mbit` : text);
  if ('bytesPerSecond' in parsed) return parsed;
  const allowed =
    'a decimal number of Mbit/s above 0 such as "25000", or one with a unit (bit, kbit, Mbit, Gbit, Tbit) such as "25Gbit"';
  return { problem: `the capacity label ${key}=${quote(text)} is invalid: it must be ${allowed}` };
}

/** Returns the stated bytes per second; 0 if nothing is stated, or it is invalid. */
export function bytesIn(parsed: ParsedCapacity | undefined): number {
  return parsed !== undefined && 'bytesPerSecond' in parsed ? parsed.bytesPerSecond : 0;
}

const BARE_NUMBER = /^\d+(?:\.\d+)?$/;

function withSubject(subject: string, parsed: ParsedCapacity): ParsedCapacity {
  return 'problem' in parsed ? { problem: `${subject} ${parsed.problem}` } : parsed;
}

/**
 * Formats bytes per second in the same form, in the largest unit that gives a number of at least 1: "20Gbit". Rounds to
 * two decimals.
 */
export function formatCapacity(bytesPerSecond: number): string {
  const bits = bytesPerSecond * BITS_PER_BYTE;
  const [name, size] = UNITS.findLast(([, unit]) => bits >= unit) ?? UNITS[0];
  return `${Number((bits / size).toFixed(2))}${name}`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text);
}
