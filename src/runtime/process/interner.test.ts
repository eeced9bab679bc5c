import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Interner } from './interner.ts';

describe('Interner', () => {
  it('returns one object for equal values', () => {
    const few = fc.record({ a: fc.nat(2), b: fc.array(fc.boolean(), { maxLength: 1 }) });
    fc.assert(
      fc.property(fc.array(few), fc.integer({ min: 1, max: 40 }), (values, most) => {
        const interner = new Interner<object>({ most });
        for (const value of values) {
          const shared = interner.share(value);
          expect(shared).toEqual(value);
          expect(interner.share(structuredClone(value))).toBe(shared);
        }
      }),
    );
  });

  it('keeps at most `most` values', () => {
    const interner = new Interner<object>({ most: 2 });
    const [a, b] = [{ a: 1 }, { b: 1 }];
    for (const value of [a, b]) interner.share(value);
    expect([interner.share({ a: 1 }), interner.share({ b: 1 })].map((one, n) => one === [a, b][n])).toEqual([
      true,
      true,
    ]);
    interner.share({ c: 1 });
    expect(interner.share({ a: 1 })).not.toBe(a);
  });

  it('compares the results of textOf', () => {
    const interner = new Interner<{ n: number }>({ textOf: ({ n }) => String(n % 2) });
    const odd = { n: 1 };
    interner.share(odd);
    expect(interner.share({ n: 3 })).toBe(odd);
    expect(interner.share({ n: 2 })).not.toBe(odd);
  });
});
