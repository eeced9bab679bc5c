import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { isBounded, isPattern } from './reading.ts';

const NESTED = String.raw`(?:(?:(?:\pL?){15}){15}){4}`;
/** RE2 compiles it to 82,000 instructions. */
const AGAIN = String.raw`(?:(?:(?:${String.raw`\pL?`.repeat(45)})+(?s){15})+(?s){15})+(?s){4}[~!]`;

describe('isPattern', () => {
  it.each<[why: string, pattern: string]>([
    ['a usual one', 'bond.*|eth0'],
    ['the most characters', 'x'.repeat(256)],
    ['names of many devices', Array.from({ length: 20 }, (_, n) => `enp3s0f${n}`).join('|')],
    ['repetitions of a name', '[a-z][a-z0-9_.-]{0,14}|(?:enp[0-9]{1,3}s[0-9]{1,3}){1,4}'],
    ['as many characters as are allowed with the repetitions written out', 'a{0,15}'.repeat(20)],
    ['a class, an escape and a quotation that look like repetitions', String.raw`[{20}(]\x{41}\{20\}\Q{20}(\E`],
  ])('allows %s', (_why, pattern) => expect(isPattern(pattern)).toBe(true));

  it.each<[why: string, pattern: string]>([
    ['nothing', ''],
    ['what RE2 does not know', '(?=eth)eth0'],
    ['more characters than are allowed', 'x'.repeat(257)],
    ['more repetitions than a name has characters', 'a{16}'],
    ['nested repetitions, which multiply', NESTED],
    ['many of them', NESTED.repeat(9)],
    ['one repetition too many', 'a{0,15}'.repeat(21)],
    ['repetitions of what precedes flags', '(?:(?:a{15})(?i){15})(?i){15}'],
    ['repetitions of what precedes an empty quotation', String.raw`(?:a{15}){15}\Q\E{15}`],
    ['repetitions around brackets that are no groups', String.raw`(?:(?:a{15}[)]\)\Q)\E){15}){2}`],
  ])('rejects %s', (_why, pattern) => expect(isPattern(pattern)).toBe(false));
});

describe('isBounded', () => {
  it.each([AGAIN, String.raw`(?:${'a'.repeat(30)})*\Q\E{15}`, `(?:${'a'.repeat(30)})?(?i){15}`])(
    'rejects a repetition of what is repeated already: %s',
    (text) => expect(isBounded(text)).toBe(false),
  );

  const odd = String.raw`(?i)|\Q\E|\Q(\E|\Q)\E|[(]|[)]|[^]a]|[[:alpha:]]|\(|\)|\pL|\p{Han}|\x{28}|a|.|^|\b|*|?|+|\E|(|)`;
  const piece = fc.constantFrom(...odd.split('|'), '|');
  const again = ['+(?s){15}', String.raw`*\Q\E{15}`, '?(?i){7}'];
  const counted = fc.constantFrom('', '', '{15}', '{0,15}', '{7,}', '{2}', '?', '*', ...again);
  const { pattern } = fc.letrec<{ pattern: string; group: string }>((tie) => ({
    pattern: fc
      .array(fc.oneof({ depthSize: 'small' }, piece, tie('group')), { maxLength: 6 })
      .map((all) => all.join('')),
    group: fc
      .tuple(fc.constantFrom('(', '(?:', '(?i:'), tie('pattern'), counted)
      .map(([start, inner, end]) => `${start}${inner})${end}`),
  }));

  it('holds only for what RE2 compiles to few instructions', () => {
    fc.assert(
      fc.property(pattern, counted, (text, end) => {
        const all = `(?:${text}){15}${end}`;
        fc.pre(isBounded(all));
        let size = 0;
        try {
          size = RE2JS.compile(all).programSize();
        } catch {
          // Not RE2: nothing to run.
        }
        expect(size).toBeLessThanOrEqual(620);
      }),
      { numRuns: 1_000 },
    );
  });
});
