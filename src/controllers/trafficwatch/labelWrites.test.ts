import { describe, expect, it } from 'vitest';
import { LabelWrites } from './labelWrites.ts';
import { KEY } from './testing/observations.ts';
import { aNode } from './testing/scene.ts';

const OTHER = 'other.traffic.example.com/unfit';

function ledger() {
  const at = { pass: 1 };
  return { at, writes: new LabelWrites(() => at.pass) };
}

describe('LabelWrites', () => {
  it('counts how often the same value was written again, and begins anew with another', () => {
    const { at, writes } = ledger();
    for (at.pass of [1, 2, 3]) writes.wrote('n1', { [KEY]: 'false' });
    expect(writes.of('n1')).toEqual({ [KEY]: { value: 'false', rewrites: 2, pass: 3 } });
    writes.wrote('n1', { [KEY]: 'true' });
    expect(writes.of('n1')).toEqual({ [KEY]: { value: 'true', rewrites: 0, pass: 3 } });
  });

  it('keeps what stood and what was taken off no longer', () => {
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

  it('notes who changed what was written, and nobody else', () => {
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
});
