import { expect, it } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { reportJson } from '../../protocol/report.ts';
import { Reports } from '../reports/reports.ts';
import { allReports } from './api.ts';

const REPORT = { report_interval: 60, nodename: 'n1' };

function reportsOf(pods: readonly string[], addresses = 0): Reports {
  const reports = new Reports(new FakeClock());
  const ips = { eth0: Array.from({ length: addresses }, (_, n) => `198.18.0.${n}/24`) };
  for (const podname of pods) reports.accept({ ...REPORT, podname, ips });
  return reports;
}

/** The reports as one text, made at once. */
function whole(reports: Reports): string {
  const sorted = [...reports.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([pod, { report }]) => `"${pod}":${JSON.stringify(reportJson(report))}`).join(',')}}`;
}

it.each([
  ['no report', []],
  ['one report', ['a']],
  ['reports that are not sorted', ['c', 'a', 'b']],
  ['names that JavaScript takes for indexes: they are sorted as texts', ['b', '9', '10', 'a']],
])('few reports are one text: %s', (_what, pods) => {
  const reports = reportsOf(pods);
  const answer = allReports(reports);
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
  expect(answer.parts).toBeUndefined();
  expect(answer.text).toBe(whole(reports));
  expect(Object.keys(JSON.parse(answer.text) as object).sort()).toEqual([...pods].sort());
});

it('many reports are sent in parts of bounded length, with the same bytes', () => {
  const reports = reportsOf(
    Array.from({ length: 1_000 }, (_, n) => `pod-${n}`),
    100,
  );
  const { text, parts = [] } = allReports(reports);
  const all = [text, ...parts];
  expect(all.length).toBeGreaterThan(20);
  expect(Math.max(...all.map(({ length }) => length))).toBeLessThan(80_000);
  expect(all.join('')).toBe(whole(reports));
});

it('a report is read when its part is made: a forgotten one is left out, and a new one is the newest', () => {
  const reports = reportsOf(
    Array.from({ length: 1_000 }, (_, n) => `pod-${n}`),
    100,
  );
  const { text, parts = [] } = allReports(reports);
  reports.forget('pod-998');
  reports.accept({ ...REPORT, podname: 'pod-999', uptime: 7 });
  const sent = JSON.parse([text, ...parts].join('')) as Record<string, { uptime: number }>;
  expect(Object.keys(sent)).toHaveLength(999);
  expect(sent['pod-998']).toBeUndefined();
  expect(sent['pod-999']?.uptime).toBe(7);
});
