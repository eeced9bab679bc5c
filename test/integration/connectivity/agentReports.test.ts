import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { nextDelayMs } from '../../../src/connectivity/agent/spread.ts';
import { startAgent } from './world.ts';
import type { Program } from '../../harness/program.ts';

/** Real agents report to a server that notes when each report came, and on which connection. */
const INTERVAL_MS = 4_000;
const INTERVAL = `-reportinterval=${INTERVAL_MS / 1_000}`;
/** A report comes that long after its moment, at most: the measurements before it take time. */
const LATE_MS = INTERVAL_MS / 2;
/** Five early ones of a new agent, and those that are looked at. */
const REPORTS = 9;
const LAST = 3;

/** The moment of a pod within each interval, ms. */
const momentOf = (pod: string): number => nextDelayMs(pod, INTERVAL_MS, 0) % INTERVAL_MS;
/** One pod for each quarter of the interval, near its middle. */
const PODS = [0.125, 0.375, 0.625, 0.875].map((share) => {
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
const reports = new Map<string, Seen[]>(PODS.map((pod) => [pod, []]));
let server: Server;
let agents: Program[];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const pod = request.url?.split('/').at(-1) ?? '';
      const seen = { at: Date.now(), connection: request.socket.remotePort, body: Buffer.concat(chunks).toString() };
      if (request.method === 'POST') reports.get(pod)?.push(seen);
      response.end();
    });
  });
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const { port } = server.address() as AddressInfo;
  agents = await Promise.all(PODS.map((pod) => startAgent(pod, 'n1', port, [INTERVAL])));
  await vi.waitFor(() => reports.forEach((seen) => expect(seen.length).toBeGreaterThanOrEqual(REPORTS)));
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.kill()));
  server.close();
  server.closeAllConnections();
});

describe('agents that started together', () => {
  it('are in different quarters of the interval', () => {
    expect(PODS.map((pod) => Math.floor((4 * momentOf(pod)) / INTERVAL_MS))).toEqual([0, 1, 2, 3]);
  });

  it.each(PODS)('%s: reports at its own moment of each interval', async (pod) => {
    // One that had to wait for a processor is followed by others.
    await vi.waitFor(() => {
      const last = reports.get(pod)!.slice(-LAST);
      const late = last.map(({ at }) => (at - momentOf(pod) + INTERVAL_MS) % INTERVAL_MS);
      for (const ms of late) expect(ms).toBeLessThan(LATE_MS);
    });
  });

  it.each(PODS)('%s: sends all reports on one connection', (pod) => {
    // On a busy machine a report may miss its deadline, which ends the connection.
    const failures = agents[PODS.indexOf(pod)]!.log().split('report not sent').length - 1;
    const connections = new Set(reports.get(pod)!.map(({ connection }) => connection));
    expect(connections.size - failures).toBeLessThanOrEqual(1);
  });
});

it('a report has the zero extender, addresses, a lookup of the server and timed probes', async () => {
  // Without those that did not end in time.
  const report = await vi.waitFor(() => {
    const last = JSON.parse(reports.get(PODS[0]!)!.at(-1)!.body) as Record<string, unknown>;
    expect(last.nslookup).toHaveProperty('localhost');
    return last;
  });
  expect(report.zero_extender).toEqual(new Array(1_500).fill(0));
  expect(report).toMatchObject({
    report_interval: 4,
    nodename: 'n1',
    podname: PODS[0],
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
