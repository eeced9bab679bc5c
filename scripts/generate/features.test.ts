import { expect, it } from 'vitest';
import { parseFeatures, valuesWithout } from './features.ts';

it.each([
  [[], ['weights.enabled=true']],
  [['weights'], ['weights.enabled=false']],
])('a bundle without %j has the values %j', (without, values) => {
  expect(valuesWithout(parseFeatures(without))).toEqual(values);
});

it('refuses to leave out what it does not know, which would stay in the bundle', () => {
  expect(() => parseFeatures(['weights', 'weight'])).toThrow('weight is not one of weights');
});
