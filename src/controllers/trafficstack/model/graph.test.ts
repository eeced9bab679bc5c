import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { component } from '../testing/stacks.ts';
import { orderComponents } from './desired.ts';

const on = (name: string, ...dependsOn: string[]) => component(name, { dependsOn });
const names = (...components: ReturnType<typeof component>[]): string[] | readonly string[] => {
  const ordered = orderComponents(components);
  return 'problems' in ordered ? ordered.problems : ordered.components.map(({ name }) => name);
};

describe('components', () => {
  it('come after those that they depend on, else in the order of the spec', () => {
    expect(names(on('web', 'api'), on('agent'), on('api', 'db'), on('db'))).toEqual(['db', 'api', 'web', 'agent']);
  });

  it('that are disabled are left out', () => {
    expect(names(on('web'), component('old', { mode: 'Disabled', dependsOn: ['nothing'] }))).toEqual(['web']);
  });

  it('of which 200 have 2,000 dependencies are ordered', () => {
    const name = (n: number): string => `c${String(n).padStart(3, '0')}`;
    const all = Array.from({ length: 200 }, (_, n) =>
      on(name(n), ...Array.from({ length: Math.min(10, n) }, (__, step) => name(n - 1 - step))),
    );
    expect(names(...all.toReversed())).toEqual(all.map((each) => each.name));
  });
});

describe('a problem', () => {
  it.each([
    ['an unknown dependency', [on('web', 'api')], 'web depends on api, which is no component of the stack'],
    [
      'one that is disabled',
      [on('web', 'api'), component('api', { mode: 'Disabled' })],
      'web depends on api, which is disabled',
    ],
    ['itself', [on('web', 'web')], 'components depend on one another: web -> web'],
    [
      'a cycle',
      [on('first', 'a'), on('a', 'b'), on('b', 'c'), on('c', 'a')],
      'components depend on one another: a -> b -> c -> a',
    ],
  ])('is %s', (_, components, problem) => {
    expect(names(...components)).toEqual([problem]);
  });

  it('is found in every graph with a cycle, and in no other one', () => {
    const edge = fc.tuple(fc.nat(7), fc.nat(7));
    fc.assert(
      fc.property(fc.array(edge, { maxLength: 14 }), (edges) => {
        const components = Array.from({ length: 8 }, (_, n) =>
          on(`c${n}`, ...new Set(edges.filter(([from]) => from === n).map(([, to]) => `c${to}`))),
        );
        const ordered = orderComponents(components);
        expect('problems' in ordered).toBe(hasCycle(edges));
        if ('problems' in ordered) return;
        const position = new Map(ordered.components.map(({ name }, n) => [name, n]));
        for (const [from, to] of edges) expect(position.get(`c${to}`)!).toBeLessThan(position.get(`c${from}`)!);
      }),
      { numRuns: 500 },
    );
  });
});

/** By removing nodes without edges until none is left. */
function hasCycle(edges: readonly (readonly [number, number])[]): boolean {
  let left = edges;
  for (;;) {
    const rest = left.filter(([, to]) => left.some(([from]) => from === to));
    if (rest.length === left.length) return rest.length > 0;
    left = rest;
  }
}
