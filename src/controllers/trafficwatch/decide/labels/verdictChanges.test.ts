import { expect, it } from 'vitest';
import { verdictChanges } from './nodeLabels.ts';
import type { LabelChange } from '../../model/label.ts';

const KEY = 'web.shop.traffic.example.com/unfit';

it.each<[string, Record<string, string>, LabelChange, boolean]>([
  ['the node turned unfit', { [KEY]: 'false' }, { [KEY]: 'true' }, true],
  ['the node turned fit', { [KEY]: 'true' }, { [KEY]: 'false' }, true],
  ['its first label is no change of a verdict', {}, { [KEY]: 'true' }, false],
  ['nor is the removal of its label', { [KEY]: 'true' }, { [KEY]: null }, false],
  ['in a rename one of two keys has a verdict', { old: 'false' }, { [KEY]: 'true', old: 'true' }, true],
])('%s', (_, labels, change, isChange) => {
  const nodes = ['n1', 'n2'].map((name) => ({ name, labels, createdAt: 0 }));
  expect(verdictChanges(nodes, new Map([['n1', change]]))).toEqual(new Set(isChange ? ['n1'] : []));
});
