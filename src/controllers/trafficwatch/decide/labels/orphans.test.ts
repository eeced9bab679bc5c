import { describe, expect, it } from 'vitest';
import { KEY } from '../../testing/observations.ts';
import { decideOrphans } from './orphans.ts';

const LOST = 'lost.traffic.example.com/unfit';

describe('decideOrphans', () => {
  it('takes off what we wrote and nobody claims', () => {
    const node = { name: 'n1', labels: { [KEY]: 'true', [LOST]: 'false' }, ownedKeys: [KEY, LOST] };
    expect(Object.fromEntries(decideOrphans([node], new Set([KEY])))).toEqual({ n1: { [LOST]: null } });
  });

  it("leaves a person's own label, though its key looks like ours", () => {
    const node = { name: 'n1', labels: { [LOST]: 'true' }, ownedKeys: [] };
    expect(decideOrphans([node], new Set()).size).toBe(0);
  });

  it('takes it off each of the nodes that share their keys, and none off those that share claimed ones', () => {
    const labels = { [KEY]: 'true', [LOST]: 'false' };
    const [claimed, both] = [[KEY], [KEY, LOST]];
    const nodes = [claimed, claimed, both, both, claimed].map((ownedKeys, i) => ({ name: `n${i}`, labels, ownedKeys }));
    expect([...decideOrphans(nodes, new Set([KEY])).keys()]).toEqual(['n2', 'n3']);
  });

  it('has nothing to do for a key that is off already', () => {
    expect(decideOrphans([{ name: 'n1', labels: {}, ownedKeys: [LOST] }], new Set()).size).toBe(0);
  });
});
