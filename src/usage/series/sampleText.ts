/** The bytes between the labels of a series and its sample. A string cannot contain them, because it escapes quotes. */
export const VALUE = Buffer.from(',"value":[');
const COMMA = 0x2c;
const DOT = 0x2e;
const QUOTE = 0x22;
const [ZERO, NINE] = [0x30, 0x39];
const END = Buffer.from('"]}');

/**
 * Extracts the text of a sample without a JSON parser: `12.5` from `,"value":[1763800000.123,"12.5"]}`. Returns
 * undefined for bytes of any other form. Does not check that the text between the quotes is a number.
 */
export function sampleText(bytes: Buffer, from: number, to: number): string | undefined {
  if (!holds(bytes, from, VALUE)) return undefined;
  let at = from + VALUE.length;
  while (isOfTime(bytes[at])) at++;
  const end = to - END.length;
  if (bytes[at] !== COMMA || bytes[at + 1] !== QUOTE || at + 2 > end || !holds(bytes, end, END)) return undefined;
  return bytes.toString('latin1', at + 2, end);
}

function isOfTime(byte = 0): boolean {
  return (byte >= ZERO && byte <= NINE) || byte === DOT;
}

function holds(bytes: Buffer, from: number, text: Buffer): boolean {
  for (let at = 0; at < text.length; at++) if (bytes[from + at] !== text[at]) return false;
  return true;
}
