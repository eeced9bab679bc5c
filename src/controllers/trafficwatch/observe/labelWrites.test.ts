import { describe, expect, it } from 'vitest';
import { LabelWrites } from './labelHistory.ts';
import { KEY } from '../testing/observations.ts';
import { aNode } from '../testing/scene.ts';

const OTHER = 'other.traffic.example.com/unfit';

function ledger() {
  const at = { pass: 1 };
  return { at, writes: new LabelWrites(() => at.pass) };
}

describe('LabelWrites', () => {
  it('counts rewrites of the same value, and starts from 0 with another value', () => {
    const { at, writes } = ledger();
    for (at.pass of [1, 2, 3]) writes.wrote('n1', { [KEY]: 'false' });
    expect(writes.of('n1')).toEqual({ [KEY]: { value: 'false', rewrites: 2, pass: 3 } });
    writes.wrote('n1', { [KEY]: 'true' });
    expect(writes.of('n1')).toEqual({ [KEY]: { value: 'true', rewrites: 0, pass: 3 } });
  });

  it('drops the records of forgotten labels, removed labels and deleted nodes', () => {
    const { writes } = ledger();
    writes.wrote('n1', { [KEY]: 'false', [OTHER]: 'true' });
    writes.forget([{ node: 'n1', key: KEY }]);
    expect(Object.keys(writes.of('n1') ?? {})).toEqual([OTHER]);
    writes.wrote('n1', { [OTHER]: null });
    expect(writes.of('n1')).toBeUndefined();
    writes.wrote('n2', { [KEY]: 'true' });
    writes.deleted(aNode('n2'));
    expect(writes.of('n2')).toBeUndefined();
  });

  it('records the manager that changed our label, and no other', () => {
    const { writes } = ledger();
    writes.wrote('n1', { [KEY]: 'false' });
    const owned = (value: string, manager: string) => ({
      ...aNode('n1', { [KEY]: value }),
      otherOwners: { [KEY]: manager },
    });
    writes.saw(owned('false', 'agrees'));
    expect(writes.of('n1')?.[KEY]).not.toHaveProperty('rival');
    writes.saw(owned('true', 'robot'));
    expect(writes.of('n1')?.[KEY]).toMatchObject({ rival: 'robot' });
    writes.wrote('n1', { [KEY]: 'false' });
    expect(writes.of('n1')?.[KEY]).toEqual({ value: 'false', rewrites: 1, pass: 1, rival: 'robot' });
    writes.saw({ ...aNode('n3', { [KEY]: 'true' }), otherOwners: { [KEY]: 'robot' } });
    expect(writes.of('n3')).toBeUndefined();
  });

  it('records the rivals of two labels of one node', () => {
    const { writes } = ledger();
    writes.wrote('n1', { [KEY]: 'false', [OTHER]: 'false' });
    const labels = { [KEY]: 'true', [OTHER]: 'true' };
    writes.saw({ ...aNode('n1', labels), otherOwners: { [KEY]: 'robot', [OTHER]: 'person' } });
    expect(writes.of('n1')).toMatchObject({ [KEY]: { rival: 'robot' }, [OTHER]: { rival: 'person' } });
  });

  it('keeps different records for nodes that started equal', () => {
    const { at, writes } = ledger();
    for (const node of ['n1', 'n2']) writes.wrote(node, { [KEY]: 'false' });
    writes.wrote('n1', { [KEY]: 'true' });
    writes.wrote('n2', { [KEY]: 'false' });
    writes.wrote('n3', { [KEY]: 'false' });
    at.pass = 2;
    writes.wrote('n4', { [KEY]: 'false' });
    expect(['n1', 'n2', 'n3', 'n4'].map((node) => writes.of(node)?.[KEY])).toEqual([
      { value: 'true', rewrites: 0, pass: 1 },
      { value: 'false', rewrites: 1, pass: 1 },
      { value: 'false', rewrites: 0, pass: 1 },
      { value: 'false', rewrites: 0, pass: 2 },
    ]);
  });

  it('shares one object among nodes with the same writes', () => {
    const { writes } = ledger();
    const nodes = ['n1', 'n2', 'n3'];
    for (const node of nodes) writes.wrote(node, { [KEY]: 'false', [OTHER]: 'true' });
    writes.forget(nodes.map((node) => ({ node, key: OTHER })));
    expect(writes.of('n1')).toEqual({ [KEY]: { value: 'false', rewrites: 0, pass: 1 } });
    expect(new Set(nodes.map((node) => writes.of(node)))).toHaveProperty('size', 1);
  });
});

describe('LabelWrites.viewsOf', () => {
  const NODES = [aNode('n1'), aNode('n2'), aNode('n3')];

  it('returns the nodes themselves if nothing was written', () => {
    expect(ledger().writes.viewsOf(NODES)).toBe(NODES);
  });

  it('returns the same array for the same list until a record changes', () => {
    const { writes } = ledger();
    writes.wrote('n3', { [KEY]: 'true' });
    const rival = { ...aNode('n1', { [KEY]: 'true' }), otherOwners: { [KEY]: 'robot' } };
    const changes: [what: string, happens: () => void, writesOfN1: unknown][] = [
      ['written', () => writes.wrote('n1', { [KEY]: 'false' }), { value: 'false', rewrites: 0, pass: 1 }],
      ['rival', () => writes.saw(rival), { value: 'false', rewrites: 0, pass: 1, rival: 'robot' }],
      [
        'other node',
        () => writes.wrote('n2', { [KEY]: 'true' }),
        { value: 'false', rewrites: 0, pass: 1, rival: 'robot' },
      ],
      ['forgotten', () => writes.forget([{ node: 'n1', key: KEY }]), undefined],
      ['gone', () => writes.deleted(NODES[1]!), undefined],
    ];
    for (const [what, happens, expected] of changes) {
      const before = writes.viewsOf(NODES);
      happens();
      const views = writes.viewsOf(NODES);
      expect(views, what).not.toBe(before);
      expect(views[0]!.writes?.[KEY], what).toEqual(expected);
      expect(writes.viewsOf(NODES), what).toBe(views);
      expect(writes.viewsOf([...NODES]), what).not.toBe(views);
    }
  });
});
