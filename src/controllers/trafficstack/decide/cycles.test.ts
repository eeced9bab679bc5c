import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { Cycles } from './removal.ts';

const COUNT = 8;
const node = fc.nat(COUNT - 1);
const graph = fc.array(fc.array(node, { maxLength: 3 }), { minLength: COUNT, maxLength: COUNT });

function reaches(edges: number[][], from: number, to: number, seen = new Set<number>()): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return (edges[from] ?? []).some((next) => reaches(edges, next, to, seen));
}

it('two nodes are in one cycle if each is reached from the other, in whatever order they are asked', () => {
  fc.assert(
    fc.property(graph, fc.array(fc.tuple(node, node)), (edges, pairs) => {
      const cycles = new Cycles<number>((of) => edges[of] ?? []);
      for (const [a, b] of pairs) {
        const isOne = reaches(edges, a, b) && reaches(edges, b, a);
        expect(cycles.of(a) === cycles.of(b)).toBe(isOne);
      }
    }),
    { numRuns: 500 },
  );
});

it('looks once at what comes after a node', () => {
  const asked: number[] = [];
  const cycles = new Cycles<number>((of) => {
    asked.push(of);
    return [of + 1, of + 2].filter((next) => next < 20);
  });
  for (let n = 19; n >= 0; n -= 1) cycles.of(n % 7);
  expect(asked.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n));
});
