import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AGENTS } from '../../../src/api/agent/schema.ts';
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
const INTERVAL_S = 2 * SLACK;
const INTERVAL = `-reportinterval=${INTERVAL_S}`;
const COUNT = (agent: string): string => `ncagent_report_count_total{agent="${agent}"}`;
const FAILS = {
  Message: 'Connectivity check fails. Reason: there are absent or outdated pods; look up the payload',
  Absent: null,
  Outdated: null,
};
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

  it('that do not know their node get that of their pod', async () => {
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
