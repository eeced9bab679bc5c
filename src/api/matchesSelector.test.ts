import { describe, expect, it } from 'vitest';
import { matchesSelector, type SelectorLike } from './labelMatcher.ts';

const LABELS = { app: 'db', tier: '' };
const expression = (key: string, operator: string, values?: string[]): SelectorLike => ({
  matchExpressions: [{ key, operator, values }],
});

describe('matchesSelector', () => {
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
    expect(matchesSelector(selector, LABELS)).toBe(matches);
  });

  it.each<[string, SelectorLike]>([
    ['In without values', expression('app', 'In')],
    ['NotIn without values', expression('app', 'NotIn', [])],
    ['Exists with values', expression('app', 'Exists', ['db'])],
    ['DoesNotExist with values', expression('zone', 'DoesNotExist', ['a'])],
    ['an unknown operator', expression('app', 'Gt', ['1'])],
  ])('matches nothing with %s, which apimachinery refuses', (_what, selector) => {
    expect(matchesSelector(selector, LABELS)).toBe(false);
  });

  it('takes absent labels as none', () => {
    expect(matchesSelector({ matchLabels: { app: 'db' } }, undefined)).toBe(false);
    expect(matchesSelector(expression('app', 'DoesNotExist'), undefined)).toBe(true);
  });
});
