import { describe, expect, it } from 'vitest';
import { lostFields } from './lostFields.ts';

describe('lostFields', () => {
  it.each<[string, unknown, unknown, string[]]>([
    ['equal values', { a: 1, b: [{ c: 1 }] }, { a: 1, b: [{ c: 1 }] }, []],
    ['a field with another value', { a: 1 }, { a: 2 }, []],
    ['another type: the value was replaced', { a: { b: 1 } }, { a: 'x' }, []],
    ['a new field', { a: 1 }, { a: 1, b: 2 }, []],
    ['a field without a value', { a: undefined }, {}, []],
    ['a field that is gone', { a: 1, b: { c: 1 } }, { a: 1 }, ['spec.b']],
    ['a field within an object', { b: { c: 1, d: 2 } }, { b: { d: 2 } }, ['spec.b.c']],
    ['a field of each entry of a list', { b: [{ c: 1 }, { c: 2 }] }, { b: [{}, {}] }, ['spec.b[].c']],
    ['a list of another length', { b: [{ c: 1 }, { d: 2 }] }, { b: [{ d: 2 }] }, []],
    ['no object at all', { a: 1 }, undefined, ['spec']],
  ])('finds of %s', (_what, before, after, lost) => {
    expect(lostFields(before, after, 'spec')).toEqual(lost);
  });
});
