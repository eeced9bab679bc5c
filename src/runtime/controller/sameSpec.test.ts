import { describe, expect, it } from 'vitest';
import { sameSpec } from './sameSpec.ts';

const before = { metadata: { generation: 1, uid: 'a' } };

describe('two states of an object', () => {
  it.each([
    ['nothing differs', {}, true],
    ['the metadata', { resourceVersion: '2' }, true],
    ['the spec', { generation: 2 }, false],
    ['deleted and created again', { uid: 'b' }, false],
  ])('%s', (_, change, isSame) => {
    expect(sameSpec(before, { metadata: { ...before.metadata, ...change } })).toBe(isSame);
  });

  it('have not the same spec if that is not known: no earlier state, or no generation', () => {
    expect(sameSpec(undefined, before)).toBe(false);
    const unknown = { metadata: { uid: 'a' } };
    expect(sameSpec(unknown, unknown)).toBe(false);
  });
});
