import { beforeEach, describe, expect, it } from 'vitest';
import type { Report } from '../../../api/agent/report.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { silentBudgets, type SeriesBudget } from '../../../runtime/manager/seriesBudget.ts';
import { MOST_PROBED_URLS, reportMetrics } from './metrics.ts';
import { Reports } from './reports.ts';

const PING = 'http://server/api/v1/ping';
const REPORT: Report = {
  report_interval: 60,
  nodename: 'n1',
  podname: 'netchecker-agent-a',
  network_probes: [{ URL: PING, ConnectionResult: 1, HTTPCode: 200, Total: 5 }],
};

let reports: Reports;
let budget: SeriesBudget;
beforeEach(() => {
  budget = silentBudgets('probed_url', MOST_PROBED_URLS);
  reports = new Reports(new FakeClock());
});

/** URLs that a check assigns, by pod. */
const assigned: Record<string, readonly string[]> = {};
const text = (): string => [...reportMetrics(reports, ({ podname }) => assigned[podname] ?? [], budget)].join('');

/** The lines of values whose metric's name ends with one of these. */
function lines(...names: string[]): string[] {
  const all = text().split('\n');
  return all.filter((line) => names.some((name) => line.startsWith(`ncagent_${name}{`)));
}

describe('reportMetrics', () => {
  it('is the text format, an empty line before each metric', () => {
    reports.accept(REPORT);
    const [first, , third] = text().split(/(?<=\n)(?=\n# HELP)/);
    expect(first).toBe(`
# HELP ncagent_report_count_total Total number of reports (keepalive messages) from the agent.
# TYPE ncagent_report_count_total counter
ncagent_report_count_total{agent="n1-private_network"} 1
`);
    expect(third).toBe(`
# HELP ncagent_http_probe_connection_result Connection result: 0 - error, 1 - success
# TYPE ncagent_http_probe_connection_result gauge
ncagent_http_probe_connection_result{agent="n1-private_network",url="${PING}"} 1
`);
  });

  it('adds the counters of two pods with one label, and has the probes of the later', () => {
    reports.accept(REPORT);
    reports.accept({ ...REPORT, podname: 'netchecker-agent-b', network_probes: [{ URL: PING, HTTPCode: 503 }] });
    expect(lines('report_count_total', 'http_probe_code')).toEqual([
      'ncagent_report_count_total{agent="n1-private_network"} 2',
      `ncagent_http_probe_code{agent="n1-private_network",url="${PING}"} 503`,
    ]);
  });

  it('has two URLs of an agent: the ping of the server and the first of the others', () => {
    const others = ['http://a', 'http://b'].map((URL) => ({ URL, HTTPCode: 200 }));
    reports.accept({ ...REPORT, network_probes: [...others, ...REPORT.network_probes!] });
    expect(lines('http_probe_code').map((line) => /url="(.*)"/.exec(line)?.[1])).toEqual(['http://a', PING]);
  });

  it('has no series for a time that was not measured', () => {
    reports.accept({ ...REPORT, network_probes: [{ URL: PING, Total: 9_223_372_036_854 }] });
    expect(lines('http_probe_total_time_ms', 'http_probe_code')).toEqual([]);
  });

  it('escapes the values of labels', () => {
    reports.accept({ ...REPORT, network_probes: [{ URL: 'http://a/"\\\n', HTTPCode: 200 }] });
    expect(lines('http_probe_code')).toEqual([
      String.raw`ncagent_http_probe_code{agent="n1-private_network",url="http://a/\"\\\n"} 200`,
    ]);
  });

  it('has no series for URLs that one agent makes up, and those that a check assigns to it', () => {
    const [made, checked] = ['http://made.up/api/v1/ping', 'http://checked'];
    for (const pod of ['a', 'b', 'c']) reports.accept({ ...REPORT, nodename: pod, podname: `netchecker-agent-${pod}` });
    assigned['netchecker-agent-d'] = [checked];
    const probes = [made, PING, checked].map((URL) => ({ URL, HTTPCode: 200 }));
    for (const pod of ['d', 'e']) {
      reports.accept({ ...REPORT, nodename: pod, podname: `netchecker-agent-${pod}`, network_probes: pod === 'd' ? probes : [] });
    }
    const urls = lines('http_probe_code').map((line) => /agent="(.).*url="(.*)"/.exec(line)?.slice(1).join(' '));
    expect(urls).toEqual([...['a', 'b', 'c', 'd'].map((pod) => `${pod} ${PING}`), `d ${checked}`]);
  });

  it('has a bounded number of URLs that come and go, and always the ping of the server', () => {
    const seen = new Set<string>();
    for (let round = 0; round < 1_000; round += 1) {
      const probes = [{ URL: `http://made.up/${round}`, HTTPCode: 200 }, ...REPORT.network_probes!];
      reports.accept({ ...REPORT, network_probes: round === 0 ? REPORT.network_probes : probes });
      const codes = lines('http_probe_code');
      expect(codes).toContain(`ncagent_http_probe_code{agent="n1-private_network",url="${PING}"} 200`);
      for (const code of codes) seen.add(code);
    }
    expect(seen.size).toBe(30);
  });
});
