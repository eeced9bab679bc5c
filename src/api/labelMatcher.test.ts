import { describe, expect, it } from 'vitest';
import { createLabelMatcher, createSelectorMatcher, type SelectorLike } from './labelMatcher.ts';
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

const LABELS = { app: 'db', tier: '' };
const expression = (key: string, operator: string, values?: string[]): SelectorLike => ({
  matchExpressions: [{ key, operator, values }],
});

describe('createSelectorMatcher', () => {
  it.each<[string, SelectorLike, boolean]>([
    ['an empty selector matches everything', {}, true],
    ['a label with the value', { matchLabels: { app: 'db' } }, true],
    ['a label with another value', { matchLabels: { app: 'web' } }, false],
    ['a label that is absent', { matchLabels: { zone: 'a' } }, false],
    ['an empty value is a value', { matchLabels: { tier: '' } }, true],
    ['an absent label has no empty value', { matchLabels: { zone: '' } }, false],
    ['one of two labels is not enough', { matchLabels: { app: 'db', zone: 'a' } }, false],
    ['In lists the value', expression('app', 'In', ['web', 'db']), true],
    ['In does not list the value', expression('app', 'In', ['web']), false],
    ['In with an absent label', expression('zone', 'In', ['']), false],
    ['NotIn lists the value', expression('app', 'NotIn', ['db']), false],
    ['NotIn does not list the value', expression('app', 'NotIn', ['web']), true],
    ['NotIn with an absent label matches', expression('zone', 'NotIn', ['a']), true],
    ['Exists', expression('tier', 'Exists'), true],
    ['Exists with an empty list of values', expression('tier', 'Exists', []), true],
    ['Exists with an absent label', expression('zone', 'Exists'), false],
    ['DoesNotExist', expression('zone', 'DoesNotExist'), true],
    ['DoesNotExist with a present label', expression('tier', 'DoesNotExist'), false],
    ['labels and expressions must both match', { matchLabels: { app: 'db' }, ...expression('zone', 'Exists') }, false],
    ['an inherited property is no label', expression('constructor', 'Exists'), false],
  ])('%s', (_why, selector, matches) => {
    expect(createSelectorMatcher(selector)(LABELS)).toBe(matches);
  });

  it.each<[string, SelectorLike]>([
    ['In without values', expression('app', 'In')],
    ['NotIn without values', expression('app', 'NotIn', [])],
    ['Exists with values', expression('app', 'Exists', ['db'])],
    ['DoesNotExist with values', expression('zone', 'DoesNotExist', ['a'])],
    ['an unknown operator', expression('app', 'Gt', ['1'])],
  ])('matches nothing with %s, which apimachinery refuses', (_what, selector) => {
    expect(createSelectorMatcher(selector)(LABELS)).toBe(false);
  });
});
