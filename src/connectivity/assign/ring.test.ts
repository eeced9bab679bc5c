import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fixedOffsets, ringOf, ringOffsets, rotationStep, sharesOf, stepsOfAllPairs } from './ring.ts';

const SIZES = { n: fc.integer({ min: 1, max: 400 }), k: fc.integer({ min: 1, max: 50 }), step: fc.nat() };

describe('ringOffsets', () => {
  it('are k different ones, none of them 0: each node probes k others and is probed by k', () => {
    fc.assert(
      fc.property(SIZES.n, SIZES.k, SIZES.step, (n, k, step) => {
        const offsets = ringOffsets(n, k, step);
        expect(new Set(offsets).size).toBe(Math.min(k, n - 1));
        expect(offsets).toHaveLength(Math.min(k, n - 1));
        expect(offsets.every((offset) => offset >= 1 && offset < n)).toBe(true);
      }),
    );
  });

  it('cover all pairs within the steps that are promised', () => {
    fc.assert(
      fc.property(SIZES.n, SIZES.k, SIZES.step, (n, k, first) => {
        expect(covered(n, k, first, stepsOfAllPairs(n, k)).size).toBe(n - 1);
      }),
    );
  });

  it('cover all pairs of 5,000 nodes with 10 peers within the steps of 24 h', () => {
    const now = Date.UTC(2026, 0, 1, 0, 1);
    const steps = rotationStep(now + 86_400_000, 60_000) - rotationStep(now, 60_000);
    expect(covered(5_000, 10, rotationStep(now, 60_000), steps).size).toBe(4_999);
  });

  it('keep the fixed peers of all nodes but the neighbours when a node joins', () => {
    fc.assert(
      fc.property(fc.integer({ min: 6, max: 100 }), fc.nat(), (n, at) => {
        const names = Array.from({ length: n }, (_, i) => ({ name: `n${String(i).padStart(3, '0')}` }));
        const before = fixedPeers(ringOf(names), 4);
        const after = fixedPeers(ringOf([...names, { name: `n${String(at % n).padStart(3, '0')}x` }]), 4);
        const changed = names.filter(({ name }) => before.get(name) !== after.get(name));
        expect(changed).toHaveLength(2);
      }),
    );
  });

  it('give each node a watcher of its own zone and, with three zones, of another zone', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 4, max: 30 }), { minLength: 3, maxLength: 5 }),
        SIZES.step,
        (sizes, step) => {
          const largest = Math.max(...sizes);
          const total = sizes.reduce((sum, size) => sum + size, 0);
          fc.pre(total - largest >= total / 4 + 2);
          const zones = sizes.flatMap((size, zone) => Array.from({ length: size }, () => zone));
          const offsets = ringOffsets(total, 10, step);
          zones.forEach((zone, node) => {
            const watchers = offsets.map((offset) => zones[(node - offset + total) % total]);
            expect(watchers).toContain(zone);
            expect(watchers.some((other) => other !== zone)).toBe(true);
          });
        },
      ),
    );
  });
});

function covered(n: number, k: number, first: number, steps: number): Set<number> {
  return new Set(Array.from({ length: steps }, (_, step) => ringOffsets(n, k, first + step)).flat());
}

function fixedPeers(ring: readonly string[], k: number): Map<string, string> {
  const offsets = fixedOffsets(ring.length, k);
  return new Map(
    ring.map((name, i) => [name, offsets.map((offset) => ring[(i + offset) % ring.length]).join()] as const),
  );
}

describe('the shares of rings', () => {
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
});
