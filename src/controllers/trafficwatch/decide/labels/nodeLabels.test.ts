import { describe, expect, it } from 'vitest';
import { KEY } from '../../testing/observations.ts';
import { decideOrphans, urgentNodes } from './nodeLabels.ts';
import type { LabelChange } from '../../model/label.ts';

const LOST = 'lost.traffic.example.com/unfit';

describe('decideOrphans', () => {
  it('removes labels that the operator wrote and no TrafficWatch claims', () => {
    const node = { name: 'n1', labels: { [KEY]: 'true', [LOST]: 'false' }, ownedKeys: [KEY, LOST] };
    expect(Object.fromEntries(decideOrphans([node], new Set([KEY])))).toEqual({ n1: { [LOST]: null } });
  });

  it("keeps a person's own label, even if its key looks like ours", () => {
    const node = { name: 'n1', labels: { [LOST]: 'true' }, ownedKeys: [] };
    expect(decideOrphans([node], new Set()).size).toBe(0);
  });

  it('removes the label from all nodes that share a list of keys, and none from nodes that share claimed keys', () => {
    const labels = { [KEY]: 'true', [LOST]: 'false' };
    const [claimed, both] = [[KEY], [KEY, LOST]];
    const nodes = [claimed, claimed, both, both, claimed].map((ownedKeys, i) => ({ name: `n${i}`, labels, ownedKeys }));
    expect([...decideOrphans(nodes, new Set([KEY])).keys()]).toEqual(['n2', 'n3']);
  });

  it('changes nothing for a label that is already removed', () => {
    expect(decideOrphans([{ name: 'n1', labels: {}, ownedKeys: [LOST] }], new Set()).size).toBe(0);
  });
});

describe('urgentNodes', () => {
  it.each<[string, Record<string, string>, LabelChange, boolean]>([
    ['the node turned unfit', { [KEY]: 'false' }, { [KEY]: 'true' }, true],
    ['the node turned fit', { [KEY]: 'true' }, { [KEY]: 'false' }, true],
    ['a node without a label is unfit', {}, { [KEY]: 'true' }, true],
    ['a node without a label is fit, as before', {}, { [KEY]: 'false' }, false],
    ['the label of an unfit node is removed', { [KEY]: 'true' }, { [KEY]: null }, true],
    ['the label of a fit node is removed', { [KEY]: 'false' }, { [KEY]: null }, false],
    ['in a rename the node is unfit under the new key', { old: 'true' }, { [KEY]: 'true' }, true],
    ['in a rename the node is fit under the new key', { old: 'false' }, { [KEY]: 'false', old: null }, false],
  ])('%s', (_, labels, change, isUrgent) => {
    const nodes = ['n1', 'n2'].map((name) => ({ name, labels, createdAt: 0 }));
    expect(urgentNodes(nodes, new Map([['n1', change]]))).toEqual(new Set(isUrgent ? ['n1'] : []));
  });
});
