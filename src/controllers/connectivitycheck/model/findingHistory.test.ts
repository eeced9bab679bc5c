import { describe, expect, it } from 'vitest';
import { faultId, isSameFault } from './findingHistory.ts';

const fault = (...subjects: string[]) => ({ class: 'Node' as const, subjects });

describe('a fault', () => {
  it('is the same after its subjects were shortened, by the identifier of the full ones', () => {
    const full = fault('gke-production-pool-x7k2', 'b');
    const short = { ...fault('gke…x7k2', 'and 1 more'), id: faultId(full) };
    expect(isSameFault(full, short)).toBe(true);
    expect(isSameFault({ ...full, id: faultId(full) }, short)).toBe(true);
  });

  it.each([
    [
      'other subjects that look alike when they are short',
      fault('a…1'),
      { ...fault('a…1'), id: faultId(fault('ab1')) },
    ],
    ['another number of subjects', fault('a', 'b'), fault('a')],
    ['another name', fault('node1'), fault('node10')],
    ['another class', fault('a'), { class: 'MTU' as const, subjects: ['a'] }],
  ])('is another fault with %s', (_why, a, b) => {
    expect(isSameFault(a, b)).toBe(false);
  });

  it('has an identifier of seven characters, and each of 40,000 links has its own', () => {
    const names = Array.from({ length: 200 }, (_, n) => `ip-10-0-${n}-1.eu-west-1.compute.internal`);
    const ids = new Set(names.flatMap((a) => names.map((b) => faultId({ class: 'Link', subjects: [`${a} -> ${b}`] }))));
    expect(ids.size).toBeGreaterThan(39_995);
    expect([...ids].every((id) => /^[0-9a-z]{7}$/.test(id))).toBe(true);
  });
});
