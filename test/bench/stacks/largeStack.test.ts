import { expect, it } from 'vitest';
import { largeStack, planOf, withInventory } from './largeStack.ts';

const dependencies = (count: number, edges: number): number =>
  largeStack(count, edges).spec.components.reduce((sum, { dependsOn = [] }) => sum + dependsOn.length, 0);

it('has so many components and dependencies', () => {
  expect(largeStack(20, 100).spec.components).toHaveLength(20);
  expect([dependencies(20, 100), dependencies(200, 2_000)]).toEqual([100, 2_000]);
});

it('is planned as what is there says', () => {
  const states = (there: Parameters<typeof planOf>[1]): string[] => [
    ...new Set(planOf(largeStack(20, 100), there).statuses.map(({ state }) => state)),
  ];
  expect(states('ready')).toEqual(['Ready']);
  expect(states('none')).toEqual(['Progressing', 'Waiting']);
  expect(states('changed')).toEqual(['Progressing', 'Waiting']);
});

it('is removed with all its objects, what nothing depends on first', () => {
  const stack = withInventory(largeStack(20, 100));
  const entries = stack.status?.inventory ?? [];
  expect(entries.map(({ objects }) => objects.length)).toEqual(Array.from({ length: 20 }, () => 3));
  expect(planOf(stack, 'unavailable').statuses.map(({ state }) => state)).not.toContain('Ready');
  const { statuses, remove } = planOf(stack, 'deleted');
  expect(statuses.map(({ state }) => state)).toEqual(Array.from({ length: 20 }, () => 'Removing'));
  const used = new Set(entries.flatMap(({ dependsOn }) => dependsOn));
  const unused = entries.map(({ component }) => component).filter((name) => !used.has(name));
  expect([...new Set(remove.map(({ component }) => component))]).toEqual(unused);
});
