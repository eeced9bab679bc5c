/** A part has this many UTF-16 code units or more, and one text beyond: what a socket takes at once. */
const PART_LENGTH = 64 * 1024;

/**
 * Joins the texts of a long answer to parts. Each text is made when its part is: a client that reads slowly holds one part,
 * and a part is too short to be a large object of V8, whose pages are not used for others.
 */
export function* inParts(texts: Iterable<string>): Generator<string, undefined> {
  let part = '';
  for (const text of texts) {
    part += text;
    if (part.length < PART_LENGTH) continue;
    yield part;
    part = '';
  }
  if (part !== '') yield part;
}
