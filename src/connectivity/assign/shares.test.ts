import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sharesOf } from './shares.ts';

const MOST = 50;
const names = (count: number, from = 0): string[] => Array.from({ length: count }, (_, n) => `n${from + n}`);

describe('sharesOf', () => {
  it.each([
    ['one ring gets all that it asks for', [{ names: names(100), peers: 50 }], [50]],
    ['a ring cannot use more peers than it has other nodes', [{ names: names(8), peers: 50 }], [7]],
    [
      'rings of different nodes do not share',
      [
        { names: names(100), peers: 50 },
        { names: names(100, 100), peers: 50 },
      ],
      [50, 50],
    ],
    [
      'two rings that ask for the same get the same',
      [
        { names: names(100), peers: 50 },
        { names: names(90), peers: 50 },
      ],
      [25, 25],
    ],
    [
      'a ring that asks for little gets it, and the others the rest',
      [
        { names: names(100), peers: 40 },
        { names: names(90), peers: 10 },
        { names: names(80), peers: 30 },
      ],
      [20, 10, 20],
    ],
    [
      'a ring gets the same at all of its nodes: the least',
      [
        { names: names(200), peers: 40 },
        { names: names(100), peers: 40 },
        { names: names(100, 100), peers: 20 },
      ],
      [25, 25, 20],
    ],
  ])('%s', (_, rings, shares) => {
    expect(sharesOf(rings, MOST)).toEqual(shares);
  });

  it('of more rings than peers leave some rings none', () => {
    const rings = Array.from({ length: MOST + 1 }, (_, n) => ({ names: names(100 + n), peers: 10 }));
    expect(sharesOf(rings, MOST).filter((share) => share === 0)).toHaveLength(1);
  });

  it('are within the limit at each node, and no ring gets less than an equal part if it asks for it', () => {
    const ring = fc.record({
      from: fc.nat(40),
      size: fc.integer({ min: 1, max: 80 }),
      peers: fc.integer({ min: 1, max: 50 }),
    });
    fc.assert(
      fc.property(fc.array(ring, { minLength: 1, maxLength: 12 }), (given) => {
        const rings = given.map(({ from, size, peers }) => ({ names: names(size, from), peers }));
        const shares = sharesOf(rings, MOST);
        for (const node of names(120)) {
          const own = rings.flatMap((each, index) => (each.names.includes(node) ? [shares[index]!] : []));
          expect(own.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(MOST);
        }
        for (const [index, { names: all, peers }] of rings.entries()) {
          const wish = Math.min(peers, all.length - 1);
          expect(shares[index]).toBeGreaterThanOrEqual(Math.min(wish, Math.floor(MOST / rings.length)));
        }
      }),
    );
  });
});
