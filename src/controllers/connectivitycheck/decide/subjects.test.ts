import { describe, expect, it } from 'vitest';
import { namesIn, sharedDomain, shortName, shortSubjects } from './subjects.ts';

const LONG = 'gke-production-europe-west1-default-pool-0a1b2c3d-x7k2';
const DOMAIN = '.eu-west-1.compute.internal';
const aws = (n: number): string => `ip-10-0-1-${n}${DOMAIN}`;

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

  it('loses the domain that all names share first, also at both ends of a link', () => {
    expect(shortName(aws(23), 24, DOMAIN)).toBe('ip-10-0-1-23');
    expect(shortName(`${aws(23)} <-> ${aws(24)}`, 32, DOMAIN)).toBe('ip-10-0-1-23 <-> ip-10-0-1-24');
    expect(shortName(aws(23), 80, DOMAIN)).toBe(aws(23));
  });
});

describe('a domain', () => {
  it('is shared by all names that have one', () => {
    expect(sharedDomain([aws(1), aws(2), 'zone-a'])).toBe(DOMAIN);
    expect(sharedDomain([aws(1), 'ip-10-0-1-1.ec2.internal'])).toBeUndefined();
    expect(sharedDomain(['node1'])).toBeUndefined();
  });
});

describe('subjects', () => {
  it('are counted where they are left out, also when they are shortened twice', () => {
    const once = shortSubjects([LONG, 'b', 'c', 'd'], 3, 40);
    expect(once).toEqual([expect.any(String), 'b', 'c', 'and 1 more']);
    expect(shortSubjects(once, 1, 16)).toEqual([expect.any(String), 'and 3 more']);
  });

  it('name both ends of a link', () => {
    expect([namesIn('a -> b'), namesIn('a <-> b'), namesIn('a')]).toEqual([['a', 'b'], ['a', 'b'], ['a']]);
  });
});
