/** A capacity in bytes per second, or why the text is none. */
export type ParsedCapacity = { bytesPerSecond: number } | { problem: string };

/** Bits per second of each unit: decimal, as `tc` and every NIC's data sheet count. Smallest first. */
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
 * Reads the capacity of a node's network as a person writes it: "25Gbit", "2.5gbit/s", "800 Mbit". Units are those of
 * `tc` (man tc, "RATES"), in any case; bytes per second ("bps" there) are left out since everybody reads them as bits.
 *
 * @returns bytes per second, always finite and above 0; otherwise a sentence that names the value and what is allowed.
 */
export function parseCapacity(text: string): ParsedCapacity {
  const match = FORM.exec(text.trim());
  const unit = `${match?.[2] ?? ''}bit`.toLowerCase();
  const bytesPerSecond = (Number(match?.[1]) * (BITS_PER_SECOND.get(unit) ?? NaN)) / BITS_PER_BYTE;
  if (Number.isFinite(bytesPerSecond) && bytesPerSecond > 0) return { bytesPerSecond };
  return {
    problem:
      `${quote(text)} is no capacity: a decimal number above 0 with one of the units bit, kbit, Mbit, Gbit, Tbit ` +
      'is allowed, such as "25Gbit" or "2.5Gbit/s"',
  };
}

/**
 * Writes bytes per second in the same form, in the largest unit of which there is at least one: "20Gbit". At most two
 * decimals, so that it may differ a little from what was measured.
 */
export function formatCapacity(bytesPerSecond: number): string {
  const bits = bytesPerSecond * BITS_PER_BYTE;
  const [name, size] = UNITS.findLast(([, unit]) => bits >= unit) ?? UNITS[0];
  return `${Number((bits / size).toFixed(2))}${name}`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text);
}
