import { expect, it } from 'vitest';
import { parseFeatures, valuesWithout } from './features.ts';

it.each([
  [[], ['stacks.enabled=true', 'weights.enabled=true']],
  [['stacks'], ['stacks.enabled=false', 'weights.enabled=true']],
  [
    ['weights', 'stacks'],
    ['stacks.enabled=false', 'weights.enabled=false'],
  ],
])('a bundle without %j has the values %j', (without, values) => {
  expect(valuesWithout(parseFeatures(without))).toEqual(values);
});

it('refuses to leave out what it does not know, which would stay in the bundle', () => {
  expect(() => parseFeatures(['stacks', 'weight'])).toThrow('weight is not one of stacks, weights');
});
