import { describe, expect, it } from 'vitest';
import { createLabelMatcher } from './labelMatcher.ts';
import type { LabelSelector } from './labelSelector.ts';

type Labels = Readonly<Record<string, string>>;

function matches(selector: LabelSelector, labels: Labels): boolean {
  return createLabelMatcher(selector)((key) => (Object.hasOwn(labels, key) ? labels[key] : undefined));
}

const zone = (operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key: 'zone', operator, ...(values.length === 0 ? {} : { values }) }],
});

describe('createLabelMatcher', () => {
  it.each<[why: string, selector: LabelSelector, labels: Labels, expected: boolean]>([
    ['a selector without requirements matches everything', {}, {}, true],
    ['empty lists are no requirements', { matchLabels: {}, matchExpressions: [] }, { zone: 'a' }, true],
    ['the value is the same', { matchLabels: { zone: 'a' } }, { zone: 'a' }, true],
    ['the value differs', { matchLabels: { zone: 'a' } }, { zone: 'b' }, false],
    ['the label is absent', { matchLabels: { zone: 'a' } }, {}, false],
    ['an absent label is not an empty value', { matchLabels: { zone: '' } }, {}, false],
    ['the value is empty', { matchLabels: { zone: '' } }, { zone: '' }, true],
    ['all pairs must match', { matchLabels: { zone: 'a', pool: 'x' } }, { zone: 'a', pool: 'y' }, false],
    ['In has the value', zone('In', 'a', 'b'), { zone: 'b' }, true],
    ['In has other values', zone('In', 'a', 'b'), { zone: 'c' }, false],
    ['In needs the label', zone('In', 'a'), {}, false],
    ['NotIn has the value', zone('NotIn', 'a', 'b'), { zone: 'a' }, false],
    ['NotIn has other values', zone('NotIn', 'a'), { zone: 'b' }, true],
    ['NotIn matches without the label', zone('NotIn', 'a'), {}, true],
    ['NotIn of the empty value', zone('NotIn', ''), { zone: '' }, false],
    ['Exists, whatever the value', zone('Exists'), { zone: '' }, true],
    ['Exists needs the label', zone('Exists'), { pool: 'x' }, false],
    ['DoesNotExist without the label', zone('DoesNotExist'), { pool: 'x' }, true],
    ['DoesNotExist with the label', zone('DoesNotExist'), { zone: '' }, false],
    ['both lists must match', { matchLabels: { pool: 'x' }, ...zone('NotIn', 'a') }, { pool: 'x', zone: 'a' }, false],
    ['a key such as constructor is no label of its own', { matchLabels: { constructor: 'x' } }, {}, false],
  ])('%s: %j on %j is %j', (_why, selector, labels, expected) => {
    expect(matches(selector, labels)).toBe(expected);
  });
});
