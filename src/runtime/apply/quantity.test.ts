import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSameQuantity, quantityOf } from './quantity.ts';

describe('isSameQuantity', () => {
  it.each([
    ['1000m', '1'],
    ['1', 1],
    ['1Gi', '1024Mi'],
    ['1Ki', '1024'],
    ['0.5', '500m'],
    ['.5', '500m'],
    ['1.', '1'],
    ['1.5Gi', '1536Mi'],
    ['1e3', '1k'],
    ['1E3', '1000'],
    ['1e-3', '1m'],
    ['100', '100000000000n'],
    ['9007199254740993', '9007199254740993000m'],
    ['-1', '-1000m'],
    ['+1', '1'],
    ['1E', '1000P'],
    ['1Ei', '1024Pi'],
    ['0', '0m'],
  ])('%s is %s', (a, b) => expect(isSameQuantity(a, b)).toBe(true));

  it.each([
    ['1Gi', '1G'],
    ['1m', '1M'],
    ['9007199254740993', '9007199254740992'],
    ['1', '-1'],
    ['', '0'],
    ['.', '0'],
    ['1 Gi', '1Gi'],
    ['abc', 'abc'],
    [undefined, undefined],
    [{}, {}],
  ])('%s is not %s', (a, b) => expect(isSameQuantity(a, b)).toBe(false));

  it('is true for any amount in two units', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), (amount) => {
        expect(isSameQuantity(`${amount}`, `${amount * 1000n}m`)).toBe(true);
        expect(isSameQuantity(`${amount}Mi`, `${amount * 1024n}Ki`)).toBe(true);
        expect(isSameQuantity(`${amount}`, `${amount * 1000n + 1n}m`)).toBe(false);
      }),
    );
  });
});

describe('quantityOf', () => {
  it.each([
    ['10Gi', 10 * 2 ** 30],
    ['1.5T', 1.5e12],
    ['2e9', 2e9],
    ['50m', 0.05],
    ['-1', -1],
    ['10GB', undefined],
    ['', undefined],
  ])('reads %s as %s', (text, number) => expect(quantityOf(text)).toBe(number));
});
