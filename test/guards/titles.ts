/** The first argument of a call, a string, if others follow: also the titles behind the table of it.each. */
const FIRST_STRING = /\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])*)\1\s*,/g;
/** The parts of a title that vitest or a template string replaces by values. */
const PLACEHOLDER = /%[a-z]|\$\{[^}]*\}|\$[\w.]+/;

/**
 * Whether the text of a test file has a test with this name, as far as the text tells: a title has each part of the name; instead of a
 * placeholder it has a text that is in the file.
 *
 * @param name part of the name as vitest prints it, `suite > test`
 */
export function hasTitle(text: string, name: string): boolean {
  const titles = [...text.matchAll(FIRST_STRING)].map(([, , title = '']) => title.replaceAll(/\\(.)/g, '$1'));
  return name.split(' > ').every((part) => titles.some((title) => mayContain(title, part, text)));
}

function mayContain(title: string, part: string, text: string): boolean {
  const pieces = title.split(PLACEHOLDER);
  if (pieces.some((piece) => piece.includes(part))) return true;
  return patternsOf(pieces).some((pattern) => {
    const [match, ...values] = pattern.exec(part) ?? [];
    return match !== undefined && values.every((value) => text.includes(value));
  });
}

/** For each two pieces of a title: what begins within the first one and ends within the last one. */
function patternsOf(pieces: readonly string[]): RegExp[] {
  return pieces.flatMap((first, from) =>
    pieces.slice(from + 1).map((last, count) => {
      const between = pieces.slice(from + 1, from + 1 + count).map((piece) => `${escaped(piece)}(.+?)`);
      return new RegExp(`^${endOf(first)}(.+?)${between.join('')}${startOf(last)}$`);
    }),
  );
}

/** Matches any end of a text, the longest one first. */
function endOf(text: string): string {
  return [...text].reduce((end, each) => `(?:${end}${escaped(each)})?`, '');
}

/** Matches any start of a text, the longest one first. */
function startOf(text: string): string {
  return [...text].reduceRight((start, each) => `(?:${escaped(each)}${start})?`, '');
}

/** A pattern for just this text. */
export function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
