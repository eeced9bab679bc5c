import { describe, expect, it } from 'vitest';
import type { Report } from '../../../api/agent/report.ts';
import { contentsOf, keptSeconds, longestGapMs, unwrittenReports, writeNeed } from './storeWrites.ts';

const HALF_TTL_MS = 150_000;
const REPORT: Report = {
  report_interval: 60,
  nodename: 'n1',
  podname: 'a',
  hostdate: '2026-01-01T00:00:00Z',
  uptime: 5,
  last_updated: '2026-01-01T00:00:00Z',
  nslookup: { server: ['198.18.0.1', '198.18.0.2'] },
  ips: { lo: ['127.0.0.1/8'] },
  network_probes: [{ URL: 'http://server', ConnectionResult: 1, HTTPCode: 200, Total: 5 }],
};

describe('writeNeed', () => {
  const written = { contents: contentsOf({ report: REPORT }), at: 1_000 };

  it.each<[string, Partial<Report>, number, string | undefined]>([
    ['the same report', {}, 1_001, undefined],
    ['other times', { hostdate: 'x', uptime: 6, last_updated: 'y' }, 1_001, undefined],
    ['other durations', { network_probes: [{ ...REPORT.network_probes![0]!, Total: 9 }] }, 1_001, undefined],
    ['other order of addresses', { nslookup: { server: ['198.18.0.2', '198.18.0.1'] } }, 1_001, undefined],
    ['another result', { network_probes: [{ ...REPORT.network_probes![0]!, HTTPCode: 503 }] }, 1_001, 'contents'],
    ['another address', { ips: {} }, 1_001, 'contents'],
    ['another interval', { report_interval: 30 }, 1_001, 'contents'],
    ['almost half a TTL', {}, 1_000 + HALF_TTL_MS - 1, undefined],
    ['half a TTL', {}, 1_000 + HALF_TTL_MS, 'times'],
  ])('%s', (_, change, now, need) => {
    expect(writeNeed(contentsOf({ report: { ...REPORT, ...change } }), written, now, HALF_TTL_MS)).toBe(need);
  });

  it('the same report, but now with a token', () => {
    const before = { contents: contentsOf({ report: REPORT, anonymous: true }), at: 1_000 };
    expect(writeNeed(contentsOf({ report: REPORT, anonymous: false }), before, 1_001, HALF_TTL_MS)).toBe('contents');
  });

  it('a new agent', () =>
    expect(writeNeed(contentsOf({ report: REPORT }), undefined, 0, HALF_TTL_MS)).toBe('contents'));
});

describe('unwrittenReports', () => {
  const at = Date.parse(REPORT.last_updated!);
  const EARLY = 5;

  it.each([
    ['right after the write', 0, 0],
    ['within a second', 1, 1],
    ['a new agent, which reports early', 20_000, 1 + EARLY],
    ['after an interval', 60_001, 2 + EARLY],
    ['after an hour: no more than were left out', 3_600_000, 3 + EARLY],
    ['by a clock that went back: as many as may have been left out', -3_600_000, 3 + EARLY],
  ])('%s', (_, sinceMs, reports) => expect(unwrittenReports(REPORT, at + sinceMs, HALF_TTL_MS)).toBe(reports));

  it('without a time', () => expect(unwrittenReports({ ...REPORT, last_updated: undefined }, at, 1)).toBe(0));
});

describe('longestGapMs', () => {
  const CRD = { halfTtlMs: HALF_TTL_MS, mostAtOnce: 1, paceMs: 100 };
  const ETCD = { halfTtlMs: HALF_TTL_MS, mostAtOnce: 100, paceMs: 200 };

  it.each([
    ['few agents', 100, CRD, HALF_TTL_MS],
    ['so many that 10 writes a second take longer than half a TTL', 20_000, CRD, 2_000_000],
    ['as many in transactions of 100', 20_000, ETCD, HALF_TTL_MS],
  ])('of %s', (_, agents, pace, ms) => expect(longestGapMs(agents, pace)).toBe(ms));
});

describe('keptSeconds', () => {
  it.each([
    ['an agent of every minute', 60, 300],
    ['the longest interval that the TTL covers', 75, 300],
    ['an agent that reports once an hour', 3_600, 7_350],
  ])('%s', (_, report_interval, seconds) => expect(keptSeconds({ ...REPORT, report_interval }, 300_000)).toBe(seconds));
});
