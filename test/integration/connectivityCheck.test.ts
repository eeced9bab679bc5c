import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  CONNECTIVITY_CHECKS,
  type ConnectivityCheckStatus,
} from '../../src/api/connectivitycheck/connectivityCheck.ts';
import type { ConnectivityCheckSpec } from '../../src/api/connectivitycheck/schema.ts';
import { FIGURES_EVERY_MS } from '../../src/controllers/connectivitycheck/decide/decide.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { audited } from '../harness/audit.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { kubectl } from '../harness/kubectl.ts';
import { within } from '../harness/slack.ts';
import {
  evaluation,
  finding,
  installConnectivityCheckCrd,
  startEvaluationServer,
  type EvaluationServer,
} from './connectivityCheckServer.ts';

const WAIT = { timeout: 120_000, interval: 100 };
/** Two intervals of 5 s, and 5 s. */
const IN_TIME = { ...within(15), interval: 100 };
/** The sample, not the line of help. */
const SERVER_UP = /^traffic_operator_connectivity_server_up \d/m;
const AUDIT = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', verbs: ['create', 'patch', 'update'] }, { level: 'None' }],
};

let f: Fixture;
let server: EvaluationServer;

const create = (name: string, spec: ConnectivityCheckSpec) =>
  f.client.create(CONNECTIVITY_CHECKS, { metadata: { name }, spec });
const status = async (name = 'cluster'): Promise<ConnectivityCheckStatus> =>
  (await f.client.get(CONNECTIVITY_CHECKS, { name })).status ?? {};
const verdictIs = (verdict: string, wait = WAIT, name = 'cluster') =>
  vi.waitFor(async () => expect((await status(name)).verdict).toBe(verdict), wait);
const reasons = async (name = 'cluster') => (await f.events(name)).map(({ reason }) => reason);
const notes = async () => (await f.events('cluster')).map(({ reason, note }) => `${reason}: ${note}`);
/** An event is written after the status that it reports. */
const isTold = (event: string) => vi.waitFor(async () => expect(await notes()).toContain(event), WAIT);
const startOperator = () => f.startOperator([`--connectivity-server-url=${server.url}`]);
const metrics = async () => (await fetch(f.operator().metricsUrl)).text();
const serverCondition = async () => findCondition((await status()).conditions, 'ServerReachable');
const statusWrites = () => audited(f.controlPlane).filter(({ resource }) => resource === 'connectivitychecks/status');

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2', 'n3'], auditPolicy: AUDIT });
  await installConnectivityCheckCrd(f.client);
  server = await startEvaluationServer();
  await startOperator();
});
afterAll(async () => {
  await f.stop();
  await server.stop();
});

describe('a spec', () => {
  it.each<[object, RegExp]>([
    [{ interval: '4s' }, /spec\.interval: Invalid value: .*4s.*must be a duration from .*5s.* to .*1h/],
    [{ peers: 51 }, /spec\.peers: Invalid value: 51: .*50/],
    [{ planes: [] }, /spec\.planes: Invalid value: 0: .*at least 1/],
    [{ planes: ['Pod', 'Pod'] }, /spec\.planes\[1\]: Duplicate value: .*Pod/],
    [{ planes: ['pod'] }, /spec\.planes\[0\]: Unsupported value: .*pod.*supported values: .*Pod/],
    [{ thresholds: { lossPercent: 0 } }, /spec\.thresholds\.lossPercent: Invalid value: 0: .*1/],
    [
      { probes: { urls: ['ftp://a'] } },
      /spec\.probes\.urls\[0\]: Invalid value: .*ftp:\/\/a.*must be an http or https URL/,
    ],
    [{ probes: { urls: ['http://u:p@a'] } }, /spec\.probes\.urls\[0\]: Invalid value: .*must be .* without user/],
    [
      { probes: { urls: Array.from({ length: 21 }, (_, n) => `http://a/${n}`) } },
      /spec\.probes\.urls: Too many: 21: .*20/,
    ],
  ])('%j is rejected, with field and value', async (spec, message) => {
    await expect(create('wrong', spec as ConnectivityCheckSpec)).rejects.toThrow(message);
  });

  it('with every field, and without any, is accepted', async () => {
    const probes = { dns: true, apiServer: true, mtu: false, urls: ['https://[::1]:8443/x?y=a@b'] };
    const nodeSelector = { matchLabels: { pool: 'none' } };
    const full: ConnectivityCheckSpec = { interval: '1h', peers: 50, planes: ['Host'], probes, nodeSelector };
    for (const spec of [full, {}]) {
      await create('right', spec);
      await f.client.delete(CONNECTIVITY_CHECKS, { name: 'right' });
    }
  });
});

describe('a check', () => {
  it('is Unknown at first', async () => {
    await create('cluster', { interval: '5s' });
    await verdictIs('Unknown');
  });

  it('is Healthy when the server finds nothing', async () => {
    server.evaluations = { cluster: evaluation() };
    await verdictIs('Healthy');
    const { conditions, ...rest } = await status();
    expect(conditions?.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`)).toEqual([
      'Ready True Checked',
      'Healthy True Healthy',
      'ServerReachable True ServerAnswers',
      'AgentsReporting True AllReporting',
    ]);
    expect(rest).toMatchObject({ observedGeneration: 1, agents: 6, reportingAgents: 6, findings: [] });
    expect(await metrics()).toContain('traffic_operator_connectivity_verdict{check="cluster",verdict="Healthy"} 1');
    expect(await metrics()).toContain('traffic_operator_connectivity_server_up 1');
  });

  it('has no writes while only figures change within a minute', async () => {
    const [before, asked] = [statusWrites(), server.requests];
    for (let pairs = 13; server.requests < asked + 3; pairs++) {
      server.evaluations = { cluster: evaluation([], 1, pairs) };
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    // None, unless it took longer than a minute since the last one.
    const most = Math.floor((Date.now() - before.at(-1)!.at) / FIGURES_EVERY_MS);
    expect(statusWrites().length - before.length).toBeLessThanOrEqual(most);
  });

  it('shows a finding with since, an event and an open outage', async () => {
    server.evaluations = { cluster: evaluation([finding()]) };
    await verdictIs('Failed');
    const { findings, outages, summary } = await status();
    expect(summary).toBe('PodNetwork n2');
    expect(findings).toMatchObject([{ class: 'PodNetwork', subjects: ['n2'], severity: 'Failed' }]);
    const { id, since: start } = findings?.[0] ?? {};
    expect(outages).toEqual([{ class: 'PodNetwork', subjects: ['n2'], id, start }]);
    await vi.waitFor(async () => expect(await reasons()).toContain('PodNetworkFailed'), WAIT);
    expect(await metrics()).toContain('traffic_operator_connectivity_findings{check="cluster",class="PodNetwork"} 1');
  });

  it('has its verdict, findings and agents in the columns of kubectl get', async () => {
    const table = await kubectl(f.controlPlane, ['get', 'connectivitychecks', 'cluster']);
    const [head = '', row = ''] = table.split('\n').map((line) => line.trim().split(/ {2,}/).join('|'));
    expect(head).toBe('NAME|VERDICT|FINDINGS|AGENTS|REPORTING|AGE');
    expect(row).toMatch(/^cluster\|Failed\|PodNetwork n2\|6\|6\|(\d+s|\d+m(\d+s)?)$/);
    const wide = await kubectl(f.controlPlane, ['get', 'cc', 'cluster', '-o', 'wide', '--no-headers']);
    // Ready, Server, Nodes, Excluded, Pairs, Affected, Reason.
    expect(wide.trim().split(/ {2,}/).slice(6)).toEqual(['True', 'True', '3', '0', '12', '0', 'PodNetworkFailed']);
  });

  it('keeps since and outages when the operator restarts, with a server that does not answer at first', async () => {
    const before = await status();
    await f.stopOperator();
    await server.stop();
    await startOperator();
    await vi.waitFor(async () => expect((await status()).summary).toBe('Server server (+1)'), IN_TIME);
    expect(await serverCondition()).toMatchObject({ status: 'False', reason: 'ServerUnreachable' });
    await vi.waitFor(async () => expect(await reasons()).toContain('ServerFailed'), WAIT);
    await server.start();
    await vi.waitFor(async () => expect((await status()).summary).toBe('PodNetwork n2'), IN_TIME);
    const after = await status();
    expect(after.findings?.[0]?.since).toBe(before.findings?.[0]?.since);
    expect(after.outages?.find(({ class: one }) => one === 'PodNetwork')).toEqual(before.outages?.[0]);
    await isTold('FindingCleared: Finding cleared: Server server');
  });

  it('clears a finding, with an event and the end of its outage', async () => {
    server.evaluations = { cluster: evaluation() };
    await verdictIs('Healthy');
    const { findings, outages, summary } = await status();
    expect(findings).toEqual([]);
    expect(summary).toBeUndefined();
    const outage = outages?.find(({ class: one }) => one === 'PodNetwork');
    expect(Date.parse(outage?.end ?? '')).toBeGreaterThan(Date.parse(outage?.start ?? ''));
    await isTold('FindingCleared: Finding cleared: PodNetwork n2');
  });
});

it('an answer that cannot be used is the condition with its reason, and the operator goes on', async () => {
  // Two in a row do not have the same reason.
  const answers: readonly { respond: EvaluationServer['respond']; reason: string; why: string }[] = [
    { respond: (response) => response.end('<html>'), reason: 'ServerBadAnswer', why: 'it is no JSON' },
    { respond: (response) => response.destroy(), reason: 'ServerUnreachable', why: 'it breaks off' },
    {
      respond: (response) => response.end('{"cluster":{"generation":"x"}}'),
      reason: 'ServerBadAnswer',
      why: 'no number',
    },
    { respond: (response) => response.end('"'.padEnd(5 * 1024 * 1024)), reason: 'ServerTooLarge', why: '5 MiB' },
    { respond: (response) => response.writeHead(503).end('no'), reason: 'ServerBadStatus', why: 'an error' },
    { respond: (response) => void response.write('{'), reason: 'ServerDeadline', why: 'it never ends' },
  ];
  const { pid } = f.operator();
  for (const { respond, reason, why } of answers) {
    server.respond = respond;
    await vi.waitFor(async () => expect(await serverCondition(), why).toMatchObject({ status: 'False', reason }), WAIT);
  }
  server.respond = undefined;
  await vi.waitFor(async () => expect(await serverCondition()).toMatchObject({ status: 'True' }), WAIT);
  await verdictIs('Healthy');
  expect(() => process.kill(pid, 0)).not.toThrow();
  expect(f.operator().log()).not.toMatch(/"level":"(fatal|error)"/);
});

it('two checks have their own results; one that is deleted leaves no series, and without any, the server is not asked', async () => {
  await create('pods', { planes: ['Pod'] });
  const degraded = finding({ class: 'MTU', severity: 'Degraded' });
  server.evaluations = { cluster: evaluation(), pods: evaluation([degraded]) };
  await verdictIs('Degraded', WAIT, 'pods');
  expect((await status()).verdict).toBe('Healthy');
  await f.client.delete(CONNECTIVITY_CHECKS, { name: 'pods' });
  await vi.waitFor(async () => expect(await metrics()).not.toContain('check="pods"'), WAIT);
  expect(await metrics()).toContain('check="cluster"');
  await f.client.delete(CONNECTIVITY_CHECKS, { name: 'cluster' });
  await vi.waitFor(async () => expect(await metrics()).not.toMatch(SERVER_UP), WAIT);
  const before = server.requests;
  // More than the interval in which it would be asked.
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  expect(server.requests).toBe(before);
});

it('without a server to ask, a check is Unknown with the reason NotDeployed, and nothing is asked', async () => {
  await f.stopOperator();
  const before = server.requests;
  await f.startOperator([]);
  await create('cluster', {});
  await verdictIs('Unknown');
  expect((await status()).conditions?.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`)).toEqual([
    'Ready False NotDeployed',
    'Healthy Unknown NotDeployed',
    'ServerReachable Unknown NotDeployed',
    'AgentsReporting Unknown NotDeployed',
  ]);
  expect(server.requests).toBe(before);
});
