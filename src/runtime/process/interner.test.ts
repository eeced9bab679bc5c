import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Interner } from './interner.ts';

describe('Interner', () => {
  it('returns one object for all equal values, and an equal one for any', () => {
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

  it('holds no more than it may', () => {
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

  it('goes by the text that it is given', () => {
    const interner = new Interner<{ n: number }>({ textOf: ({ n }) => String(n % 2) });
    const odd = { n: 1 };
    interner.share(odd);
    expect(interner.share({ n: 3 })).toBe(odd);
    expect(interner.share({ n: 2 })).not.toBe(odd);
  });
});
