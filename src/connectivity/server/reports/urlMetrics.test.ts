import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../../runtime/client/errors.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { Reports } from './reports.ts';
import { commonUrls, failingAgents, registerUrlMetrics } from './urlMetrics.ts';

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

describe('the failing agents of a URL', () => {
const URL = 'https://a.test/';
const count = (...results: object[]): unknown =>
  Object.fromEntries(failingAgents(results.map((result) => ({ results: [{ URL, ...result }], assigned: [URL] }))));

it.each([
  ['no connection', { ConnectionResult: 0, HTTPCode: 0 }, 1],
  ['no connection, of an agent that sends no status', { ConnectionResult: 0 }, 1],
  ['a connection without a response', { ConnectionResult: 1, HTTPCode: 0 }, 1],
  ['an error of the client', { ConnectionResult: 1, HTTPCode: 404 }, 1],
  ['an error of the server', { ConnectionResult: 1, HTTPCode: 503 }, 1],
  ['the last status that is none', { ConnectionResult: 1, HTTPCode: 399 }, 0],
  ['success', { ConnectionResult: 1, HTTPCode: 200 }, 0],
  ['success, of an agent that sends no connection', { HTTPCode: 204 }, 0],
])('%s', (_what, result, failing) => {
  expect(count(result)).toEqual({ [URL]: failing });
});

it('a result that does not decide is no result: 0 would be a lie', () => {
  expect(count({}, { ConnectionResult: 1 })).toEqual({});
});

it('counts each agent once, and only for URLs that it was assigned', () => {
  const results = [{ ConnectionResult: 0 }, { HTTPCode: 200 }, { HTTPCode: 500 }];
  expect(count(...results)).toEqual({ [URL]: 2 });
  const failed = { URL, ConnectionResult: 0 };
  const agents = [
    { results: [failed, failed], assigned: [URL] },
    { results: [failed], assigned: ['https://b.test/'] },
  ];
  expect(failingAgents(agents)).toEqual(new Map([[URL, 1]]));
});
});

describe('common URLs', () => {
/** The results of agents, each of these URLs. */
const common = (...agents: string[][]): string[] => [...commonUrls(agents.map((urls) => urls.map((URL) => ({ URL }))))];

it.each([
  ['the only agent', [['a']], ['a']],
  ['more than a quarter', [['a', 'b'], ['a'], ['a'], ['a', 'c'], ['a', 'b']], ['a', 'b']],
  ['a quarter', [['a', 'b'], ['a'], ['a'], ['a']], ['a']],
  ['agents with results only', [['a'], [], [], [], []], ['a']],
  ['each agent once', [['a', 'b', 'b', 'b'], ['a'], ['a'], ['a']], ['a']],
])('counts %s', (_what, agents, urls) => {
  expect(common(...agents)).toEqual(urls);
});
});
