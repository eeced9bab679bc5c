import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AGENTS } from '../../../src/api/agent/report.ts';
import { nextDelayMs } from '../../../src/connectivity/agent/spread.ts';
import { PODS } from '../../../src/runtime/client/resources.ts';
import { agentCrd, installCrd } from '../../harness/customResource.ts';
import { SLACK } from '../../harness/slack.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { createAgentPod, startAgent, startServer, type ConnectivityServer } from './world.ts';
import type { Program } from '../../harness/program.ts';

/** Real agents report to a real server, which stores their reports in a real API server. */
const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client, agentCrd(), AGENTS);
  await createAgentPod(client, 'netchecker-agent-a');
  await createAgentPod(client, 'netchecker-agent-hostnet-a', { app: 'netchecker-agent-hostnet' });
  await createAgentPod(client, 'netchecker-agent-waits', { phase: 'Pending' });
  await createAgentPod(client, 'other', { app: 'other' });
});

const CHECK = '/api/v1/connectivity_check';
/** So long that no agent misses a report because it had to wait for a processor. */
const INTERVAL_S = Math.max(2, SLACK);
const INTERVAL = `-reportinterval=${INTERVAL_S}`;
const COUNT = (agent: string): string => `ncagent_report_count_total{agent="${agent}"}`;
const FAILS = {
  Message: 'Connectivity check fails. Reason: there are absent or outdated pods; look up the payload',
  Absent: null,
  Outdated: null,
};
/** The interval of four other agents, whose server notes when each report came, and on which connection. */
const INTERVAL_MS = 4_000;
/** A report comes that long after its moment, at most: the measurements before it take time. */
const LATE_MS = INTERVAL_MS / 2;
/** Five early ones of a new agent, and one more. */
const REPORTS = 6;
/** The number of reports that the test checks, the last ones. */
const LAST = 3;

/** The moment of a pod within each interval, ms. */
const momentOf = (pod: string): number => nextDelayMs(pod, INTERVAL_MS, 0) % INTERVAL_MS;
/** One pod for each quarter of the interval, near its middle. */
const QUARTERS = [0.125, 0.375, 0.625, 0.875].map((share) => {
  const names = Array.from({ length: 200 }, (_, n) => `netchecker-agent-${n}`);
  const distance = (name: string): number => Math.abs(momentOf(name) - share * INTERVAL_MS);
  return names.reduce((best, name) => (distance(name) < distance(best) ? name : best));
});

interface Seen {
  readonly at: number;
  /** Port of the agent's end. */
  readonly connection: number | undefined;
  readonly body: string;
}
const reports = new Map<string, Seen[]>(QUARTERS.map((pod) => [pod, []]));

let server: ConnectivityServer;
let agents: Program[] = [];
const urlOf = (path: string): string => `http://localhost:${server.port}/${path}`;

beforeAll(async () => {
  server = await startServer(scene.plane.kubeconfig, ['-allow-anonymous']);
  await vi.waitFor(async () =>
    expect((await server.ask(CHECK)).json()).toEqual({
      ...FAILS,
      Absent: ['netchecker-agent-a', 'netchecker-agent-hostnet-a'],
    }),
  );
  agents = await Promise.all([
    startAgent('netchecker-agent-a', 'n1', server.port, [INTERVAL, '-probeurls', urlOf('nowhere')]),
    startAgent('netchecker-agent-hostnet-a', '', server.port, [INTERVAL]),
  ]);
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.kill()));
  await server.kill();
});

let witness: Server;
let spread: Program[];

beforeAll(async () => {
  witness = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const pod = request.url?.split('/').at(-1) ?? '';
      const seen = { at: Date.now(), connection: request.socket.remotePort, body: Buffer.concat(chunks).toString() };
      if (request.method === 'POST') reports.get(pod)?.push(seen);
      response.end();
    });
  });
  witness.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve) => witness.listen(0, 'localhost', resolve));
  const { port } = witness.address() as AddressInfo;
  const interval = `-reportinterval=${INTERVAL_MS / 1_000}`;
  spread = await Promise.all(QUARTERS.map((pod) => startAgent(pod, 'n1', port, [interval])));
});
afterAll(async () => {
  await Promise.all(spread.map((agent) => agent.kill()));
  witness.close();
  witness.closeAllConnections();
});

describe('agents that report', () => {
  it('make the check succeed; a pod that waits for its node is not expected', async () => {
    await vi.waitFor(async () => {
      const { status, text } = await server.ask(CHECK);
      expect([status, text]).toEqual([
        200,
        '{"Message":"All 2 pods successfully reported back to the server","Absent":null,"Outdated":null}',
      ]);
    });
  });

  it('send addresses, the lookup of the server, and timed probes', async () => {
    const reports = (await server.ask('/api/v1/agents/')).json() as Record<string, object>;
    expect(Object.keys(reports)).toEqual(['netchecker-agent-a', 'netchecker-agent-hostnet-a']);
    const report = reports['netchecker-agent-a']!;
    expect(report).toMatchObject({
      report_interval: INTERVAL_S,
      nodename: 'n1',
      podname: 'netchecker-agent-a',
      nslookup: { localhost: expect.arrayContaining(['127.0.0.1']) as string[] },
      ips: { lo: expect.arrayContaining(['127.0.0.1/8']) as string[] },
      network_probes: [
        { URL: urlOf('nowhere'), ConnectionResult: 1, HTTPCode: 404 },
        { URL: urlOf('api/v1/ping'), ConnectionResult: 1, HTTPCode: 200 },
      ],
    });
    expect(report).not.toHaveProperty('zero_extender');
  });

  it('that do not know their node get the node of their pod', async () => {
    const reports = (await server.ask('/api/v1/agents/')).json();
    expect(reports).toMatchObject({ 'netchecker-agent-hostnet-a': { nodename: 'n1' } });
  });

  it('have an object each, which is read by its name', async () => {
    await vi.waitFor(async () => {
      const stored = await scene.connected.client.list(AGENTS, { namespace: 'default' });
      expect(stored.map(({ metadata }) => metadata?.name)).toEqual([
        'netchecker-agent-a',
        'netchecker-agent-hostnet-a',
      ]);
    });
    const answer = (await server.ask('/api/v1/agents/netchecker-agent-a')).json();
    expect(answer).toMatchObject({
      kind: 'Agent',
      apiVersion: 'network-checker.ext/v1',
      metadata: { name: 'netchecker-agent-a', namespace: 'default', uid: expect.any(String) as string },
      spec: { podname: 'netchecker-agent-a' },
    });
  });

  it('are counted under their node and plane, with a series for each probe', async () => {
    await vi.waitFor(async () => {
      expect(await server.series(COUNT('n1-private_network'))).toBeGreaterThanOrEqual(2);
      expect(await server.series(COUNT('n1-host_network'))).toBeGreaterThanOrEqual(2);
    });
    expect(await server.series(`ncagent_http_probe_code{agent="n1-private_network",url="${urlOf('nowhere')}"}`)).toBe(
      404,
    );
    expect(await server.series('ncagent_error_count_total{agent="n1-private_network"}')).toBe(0);
  });
});

it('the metrics have the names and labels of the original', async () => {
  const { text } = await server.ask('/metrics');
  const series = text.matchAll(/^(ncagent_\w+)\{(.*)\} /gm);
  const labels = (given: string): string => [...given.matchAll(/(\w+)="/g)].map(([, name]) => name).join(' ');
  const found = new Set([...series].map(([, name = '', given = '']) => `${name} ${labels(given)}`));
  const probes = ['connection_result', 'code', 'total_time_ms', 'content_transfer_time_ms', 'tcp_connection_time_ms'];
  const more = ['dns_lookup_time_ms', 'connect_time_ms', 'server_processing_time_ms'];
  expect([...found].sort()).toEqual(
    [
      'ncagent_report_count_total agent',
      'ncagent_error_count_total agent',
      ...[...probes, ...more].map((name) => `ncagent_http_probe_${name} agent url`),
    ].sort(),
  );
});

describe('a server that restarts', () => {
  it('keeps reports and counters, and finds no agent absent', async () => {
    await vi.waitFor(async () => expect(await server.series(COUNT('n1-private_network'))).toBeGreaterThan(2));
    const before = (await server.series(COUNT('n1-private_network')))!;
    const { port } = server;
    await server.kill();
    server = await startServer(scene.plane.kubeconfig, ['-allow-anonymous'], port);
    const answers: number[] = [];
    await vi.waitFor(async () => {
      const { status } = await server.ask(CHECK);
      answers.push(status);
      expect(status).toBe(200);
    });
    expect(answers).not.toContain(400);
    expect(await server.series(COUNT('n1-private_network'))).toBeGreaterThanOrEqual(before);
  });
});

describe('an agent whose server is away', () => {
  it('tries again soon, though its interval is long', async () => {
    const { port } = server;
    await server.kill();
    const agent = await startAgent('without-a-pod', 'n9', port, ['-reportinterval=3600']);
    await vi.waitFor(() => expect(agent.log()).toContain('report not sent'));
    server = await startServer(scene.plane.kubeconfig, ['-allow-anonymous'], port);
    await vi.waitFor(async () => {
      const reports = (await server.ask('/api/v1/agents/')).json() as Record<string, { report_interval: number }>;
      expect(reports['without-a-pod']?.report_interval).toBe(3600);
    });
    await agent.kill();
  });
});

describe('an agent that stops', () => {
  it('is outdated after two intervals, and its missing reports are counted', async () => {
    await agents[0]!.kill();
    agents = agents.slice(1);
    await vi.waitFor(async () => {
      const answer = await server.ask(CHECK);
      expect([answer.status, answer.json()]).toEqual([400, { ...FAILS, Outdated: ['netchecker-agent-a'] }]);
    });
    await vi.waitFor(async () =>
      expect(await server.series('ncagent_error_count_total{agent="n1-private_network"}')).toBeGreaterThan(1),
    );
  });

  it('leaves neither series nor object once its pod is gone', async () => {
    await scene.connected.client.delete(PODS, { namespace: 'default', name: 'netchecker-agent-a' });
    await scene.connected.transport
      .request({
        method: 'DELETE',
        path: '/api/v1/namespaces/default/pods/netchecker-agent-a',
        body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 },
      })
      .catch(() => undefined);
    await vi.waitFor(async () => {
      expect((await server.ask(CHECK)).status).toBe(200);
      expect((await server.ask('/metrics')).text).not.toContain('n1-private_network');
      const stored = await scene.connected.client.list(AGENTS, { namespace: 'default' });
      expect(stored.map(({ metadata }) => metadata?.name)).toEqual(['netchecker-agent-hostnet-a', 'without-a-pod']);
    });
  });
});

describe('agents that started together', () => {
  // While the tests before these ran.
  beforeAll(() => vi.waitFor(() => reports.forEach((seen) => expect(seen.length).toBeGreaterThanOrEqual(REPORTS))));

  it('are in different quarters of the interval', () => {
    expect(QUARTERS.map((pod) => Math.floor((4 * momentOf(pod)) / INTERVAL_MS))).toEqual([0, 1, 2, 3]);
  });

  it.each(QUARTERS)('%s: reports at its own moment of each interval', async (pod) => {
    // One that had to wait for a processor is followed by others.
    await vi.waitFor(() => {
      const last = reports.get(pod)!.slice(-LAST);
      const late = last.map(({ at }) => (at - momentOf(pod) + INTERVAL_MS) % INTERVAL_MS);
      for (const ms of late) expect(ms).toBeLessThan(LATE_MS);
    });
  });

  it.each(QUARTERS)('%s: sends all reports on one connection', (pod) => {
    // On a busy machine a report may miss its deadline, which ends the connection.
    const failures = spread[QUARTERS.indexOf(pod)]!.log().split('report not sent').length - 1;
    const connections = new Set(reports.get(pod)!.map(({ connection }) => connection));
    expect(connections.size - failures).toBeLessThanOrEqual(1);
  });
});

it('a report has the zero extender, addresses, a lookup of the server and timed probes', async () => {
  // Without those that did not end in time.
  const report = await vi.waitFor(() => {
    const last = JSON.parse(reports.get(QUARTERS[0]!)!.at(-1)!.body) as Record<string, unknown>;
    expect(last.nslookup).toHaveProperty('localhost');
    return last;
  });
  expect(report.zero_extender).toEqual(new Array(1_500).fill(0));
  expect(report).toMatchObject({
    report_interval: 4,
    nodename: 'n1',
    podname: QUARTERS[0],
    ips: { lo: expect.arrayContaining(['127.0.0.1/8']) as unknown },
    nslookup: { localhost: expect.arrayContaining(['127.0.0.1']) as unknown },
  });
  const [probe] = report.network_probes as Record<string, number>[];
  expect(Object.keys(probe ?? {})).toEqual([
    'URL',
    'ConnectionResult',
    'HTTPCode',
    'Total',
    'ContentTransfer',
    'TCPConnection',
    'DNSLookup',
    'Connect',
    'ServerProcessing',
  ]);
});
