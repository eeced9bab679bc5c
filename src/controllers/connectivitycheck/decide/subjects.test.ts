import { describe, expect, it } from 'vitest';
import { isSameFault, shortName, shortSubjects } from './subjects.ts';

const LONG = 'gke-production-europe-west1-default-pool-0a1b2c3d-x7k2';

describe('a name', () => {
  it('loses its middle, so that the end that differs stays', () => {
    expect(shortName(LONG, 24)).toMatch(/^gke-pro….*x7k2$/);
    expect(shortName(LONG, 24)).toHaveLength(24);
    expect(shortName('node1', 24)).toBe('node1');
  });

  it('of a link keeps both ends', () => {
    expect(shortName(`${LONG} -> ${LONG}b`, 40)).toMatch(/x7k2 -> gke.*x7k2b$/);
    expect(shortName(`${LONG} <-> ${LONG}`, 40).length).toBeLessThanOrEqual(40);
  });
});

describe('a fault', () => {
  const fault = (...subjects: string[]) => ({ class: 'Node' as const, subjects });

  it('is the same after it was shortened, once or twice', () => {
    const subjects = [LONG, 'b', 'c', 'd'];
    const once = shortSubjects(subjects, 3, 40);
    const twice = shortSubjects(once, 1, 16);
    expect(once).toEqual([expect.any(String), 'b', 'c', 'and 1 more']);
    expect(twice).toEqual([expect.any(String), 'and 3 more']);
    for (const short of [once, twice]) expect(isSameFault(fault(...subjects), fault(...short))).toBe(true);
    expect(isSameFault(fault(...once), fault(...twice))).toBe(true);
  });

  it.each([
    ['another end', [LONG], [shortName(`${LONG.slice(0, -1)}3`, 24)]],
    ['another number of subjects', ['a', 'b'], ['a']],
    ['another name', ['node1'], ['node10']],
  ])('is another one with %s', (_why, a, b) => {
    expect(isSameFault(fault(...a), fault(...b))).toBe(false);
  });

  it('of another class is another one', () => {
    expect(isSameFault(fault('a'), { class: 'MTU', subjects: ['a'] })).toBe(false);
  });
});
