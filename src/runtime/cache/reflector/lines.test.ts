import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineSplitter } from './watchEvents.ts';

/** Splits bytes at the given offsets, which may be unsorted and repeated. */
function chunksOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, n) => bytes.subarray(places[n], end));
}

it('gives the same lines for any chunks, even if a chunk ends within a character', () => {
  const line = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\n'));
  fc.assert(
    fc.property(fc.array(line), line, fc.array(fc.nat()), (lines, rest, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join('') + rest);
      const splitter = new LineSplitter();

      const found = chunksOf(bytes, cuts).flatMap((chunk) => splitter.push(chunk).map(String));

      expect(found).toEqual(lines.map((text) => Buffer.from(text).toString()));
      expect(splitter.pending).toBe(Buffer.byteLength(rest));
    }),
  );
});

it('skips empty lines', () => {
  expect(new LineSplitter().push(Buffer.from('\n\na\n\n')).map(String)).toEqual(['a']);
});

it('reads a long line in small chunks in linear time', () => {
  const splitter = new LineSplitter();
  const piece = Buffer.alloc(100, 'x');
  const before = process.threadCpuUsage();
  for (let n = 0; n < 200_000; n += 1) splitter.push(piece);
  const [line] = splitter.push(Buffer.from('\n'));

  expect(line?.length).toBe(20_000_000);
  // Copying the line again for each chunk would copy 2 TB.
  expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(2_000);
});

it('rejects a line that does not end', () => {
  const splitter = new LineSplitter();
  const piece = Buffer.alloc(1024 * 1024, 'x');

  expect(() => {
    for (let n = 0; n < 40; n += 1) splitter.push(piece);
  }).toThrow(RangeError);
});
