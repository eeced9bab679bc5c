import { describe, expect, it } from 'vitest';
import { LabelSets, valueIn } from './cachedNode.ts';

const all = (): boolean => true;

describe('LabelSets', () => {
  it('returns the values of its labels, and undefined for others', () => {
    const set = new LabelSets().of({ zone: 'a', empty: '', out: 'x' }, (key) => key !== 'out');
    expect(['zone', 'empty', 'out', 'constructor'].map((key) => valueIn(set, key))).toEqual([
      'a',
      '',
      undefined,
      undefined,
    ]);
  });

  it('shares one set among nodes with equal labels, and no others', () => {
    const sets = new LabelSets();
    const one = sets.of({ zone: 'a', pool: 'x' }, all);
    expect(sets.of({ zone: 'a', pool: 'x' }, all)).toBe(one);
    const other = sets.of({ zone: 'b', pool: 'x' }, all);
    expect([valueIn(one, 'zone'), valueIn(other, 'zone')]).toEqual(['a', 'b']);
    expect(other.keys).toBe(one.keys);
  });

  it('is right about a set whose keys and values are another set’s when written one after the other', () => {
    const sets = new LabelSets();
    const [one, other] = [sets.of({ a: 'b c' }, all), sets.of({ a: 'b', c: '' }, all)];
    expect([valueIn(one, 'a'), valueIn(other, 'a'), valueIn(other, 'c')]).toEqual(['b c', 'b', '']);
  });
});
