import { describe, expect, it } from 'vitest';
import type { ConnectivityCheckStatus } from '../../../api/connectivitycheck/connectivityCheck.ts';
import type { Finding } from '../../../api/connectivitycheck/finding.ts';
import { EXCLUSIONS } from '../../../api/connectivitycheck/terms.ts';
import { faultId } from '../model/findingHistory.ts';
import { namesIn } from '../model/subjects.ts';
import { answered, checkWith, evaluation, finding, T0 } from '../testing/scenes.ts';
import { decide } from './decide.ts';
import { fit, sharedDomain, shortName, shortSubjects, sizeOf } from './fit.ts';

const KIB_16 = 16 * 1024;

/** Findings of other subjects in each round. `letter` fills the names. */
function findings(count: number, round: number, letter: string): Finding[] {
  const name = (n: number): string => `${letter.repeat(120)}-${round}-${n}-${letter.repeat(110)}${round}x${n}`;
  return Array.from({ length: count }, (_, n) =>
    finding({
      class: 'HostNetwork',
      subjects: [0, 1, 2, 3, 4, 5].map((part) => `${name(n)}.${part} <-> ${name(n + 1)}.${part}`),
      message: letter.repeat(3000),
      evidence: {
        affectedPairs: 25_000_000,
        observedPairs: 25_000_000,
        pairs: [1, 2, 3].map(() => ({ from: name(n), to: name(n), plane: 'Host', measured: letter.repeat(500) })),
        lossPercent: 100,
        largestPacketBytes: 1400,
      },
    }),
  );
}

/** The status after ten rounds of other findings, two minutes apart, so that there are more than 100 outages. */
function extreme(letter: string): ConnectivityCheckStatus {
  let status: ConnectivityCheckStatus | undefined;
  const excluded = Array.from({ length: 40 }, () => ({ node: letter.repeat(253), reason: EXCLUSIONS[0] }));
  for (let round = 0; round < 12; round++) {
    const evaluated = { ...evaluation(findings(12, round, letter)), omittedFindings: 0, excluded };
    status = decide({
      check: checkWith(status),
      history: new Map(),
      server: answered(evaluated),
      now: T0 + round * 120_000,
    }).write;
  }
  return status!;
}

describe('the size of a status', () => {
  it('stays below 16 KiB with the longest names, and keeps 12 findings and most outages', () => {
    const status = extreme('n');
    expect(sizeOf(status)).toBeLessThan(KIB_16);
    expect(status.findings).toHaveLength(12);
    expect(status.outages?.length).toBeGreaterThan(60);
    expect(status.outages?.filter(({ end }) => end === undefined)).toHaveLength(12);
  });

  it('has room for five findings and 100 outages of nodes with long names', () => {
    const name = (n: number): string => `gke-production-europe-west1-default-pool-0a1b2c3d-${n}`;
    const outages = Array.from({ length: 120 }, (_, n) => ({
      class: 'HostNetwork' as const,
      subjects: [name(n)],
      start: '2025-01-01T00:00:00Z',
      end: '2025-01-02T00:00:00Z',
    }));
    const present = Array.from({ length: 5 }, (_, n) => finding({ subjects: [name(200 + n)] }));
    const check = checkWith({ outages });
    const status = decide({ check, history: new Map(), server: answered(evaluation(present)), now: T0 }).write;
    expect(sizeOf(status)).toBeLessThan(KIB_16);
    expect(status.outages).toHaveLength(100);
    expect(status.outages?.at(-1)?.subjects[0]).toMatch(/…/);
  });

  it('keeps the nodes and links of a cloud apart, whose names end alike', () => {
    const node = (n: number): string => `ip-10-0-1-${n}.eu-west-1.compute.internal`;
    const outages = Array.from({ length: 100 }, (_, n) => {
      const outage = { class: 'Link' as const, subjects: [`${node(n)} <-> ${node(n + 100)}`] };
      return { ...outage, id: faultId(outage), start: '2025-01-01T00:00:00Z', end: '2025-01-02T00:00:00Z' };
    });
    const present = Array.from({ length: 5 }, (_, n) => finding({ subjects: [node(n)], message: 'm'.repeat(400) }));
    const check = checkWith({ outages });
    const status = decide({ check, history: new Map(), server: answered(evaluation(present)), now: T0 }).write;
    expect(new Set(status.outages?.map(({ subjects }) => subjects[0])).size).toBe(100);
    expect(status.outages?.at(-1)?.subjects).toEqual(['ip…0-1-94 <-> ip…-1-194']);
  });

  it('stays below 16 KiB also where each character takes three bytes', () => {
    const status = extreme('名');
    expect(sizeOf(status)).toBeLessThan(KIB_16);
    expect(status.findings).toHaveLength(12);
    expect(status.outages?.length).toBeGreaterThan(40);
  });

  it('does not shorten what has room', () => {
    const status = decide({
      check: checkWith(undefined),
      history: new Map(),
      server: answered(evaluation([finding()])),
      now: T0,
    }).write;
    expect(fit(status)).toEqual(status);
  });
});

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
