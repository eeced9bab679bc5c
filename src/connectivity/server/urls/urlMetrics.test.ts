import { Registry } from 'prom-client';
import { beforeEach, expect, it } from 'vitest';
import { ApiError } from '../../../runtime/client/errors.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { Reports } from '../reports/reports.ts';
import { registerUrlMetrics } from './urlMetrics.ts';

const NAME = 'traffic_operator_connectivity_url_failing_agents';
const [A, B] = ['https://a.test/', 'https://b.test/'] as const;

let clock: FakeClock;
let reports: Reports;
let registry: Registry;
/** The URLs that the checks assign to each agent. */
let assigned: string[];
let refusal: ApiError | undefined;

beforeEach(() => {
  clock = new FakeClock();
  reports = new Reports(clock);
  registry = new Registry();
  assigned = [A, B];
  refusal = undefined;
  const checks = {
    synced: true,
    get refusal() {
      return refusal;
    },
  };
  registerUrlMetrics(registry, { checks, reports, assignedTo: () => assigned });
});

function report(podname: string, network_probes: object[] | null): void {
  reports.accept({ podname, nodename: 'n1', report_interval: 10, network_probes } as Parameters<Reports['accept']>[0]);
}

async function series(): Promise<string[]> {
  const lines = (await registry.metrics()).split('\n');
  return lines.filter((line) => line.startsWith(`${NAME}{`)).map((line) => line.slice(NAME.length));
}

it('has a series for each URL of the checks that an agent requested, and none for others', async () => {
  report('a', [
    { URL: A, ConnectionResult: 1, HTTPCode: 200 },
    { URL: 'http://server/api/v1/ping', ConnectionResult: 0 },
  ]);
  report('b', [{ URL: A, ConnectionResult: 0, HTTPCode: 0 }]);
  report('c', null);
  expect(await series()).toEqual([`{url="${A}"} 1`]);
});

it('counts current reports only', async () => {
  report('a', [{ URL: B, ConnectionResult: 0 }]);
  await clock.advance(15_000);
  report('b', [{ URL: B, ConnectionResult: 0 }]);
  expect(await series()).toEqual([`{url="${B}"} 2`]);
  await clock.advance(10_000);
  expect(await series()).toEqual([`{url="${B}"} 1`]);
  await clock.advance(30_000);
  expect(await series()).toEqual([]);
});

it('ends with the URL in the checks, and while they cannot be read', async () => {
  report('a', [{ URL: A, HTTPCode: 500 }]);
  expect(await series()).toHaveLength(1);
  refusal = new ApiError({ status: 403, reason: 'Forbidden', method: 'GET', path: '/' });
  expect(await series()).toEqual([]);
  refusal = undefined;
  assigned = [];
  expect(await series()).toEqual([]);
});

it('has series of a bounded number of URLs that come and go', async () => {
  const seen = new Set<string>();
  for (let round = 0; round < 2_000; round += 1) {
    assigned = [`https://a.test/${round}`];
    report('a', [{ URL: assigned[0], HTTPCode: 500 }]);
    for (const each of await series()) seen.add(each);
  }
  expect(seen.size).toBe(1_000);
});
