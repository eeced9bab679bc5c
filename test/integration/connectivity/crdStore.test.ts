import { afterEach, describe, expect, it, vi } from 'vitest';
import { AGENTS } from '../../../src/api/agent/schema.ts';
import { audited, type AuditedRequest } from '../../harness/audit.ts';
import { agentCrd, installCrd } from '../../harness/customResource.ts';
import { withNodeOptions } from '../../harness/nodeOptions.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { clockOption, HOUR_S, RESTARTS } from './clocks.ts';
import { createAgentPod, startServer, type ConnectivityServer } from './world.ts';

/** The real server with Agent objects in a real API server. The audit log says what it wrote, and when. */
const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client, agentCrd(), AGENTS);
  await createAgentPod(client, 'netchecker-agent-a');
});

const CHECK = '/api/v1/connectivity_check';
const COUNT = 'ncagent_report_count_total{agent="n1-private_network"}';

let server: ConnectivityServer | undefined;
afterEach(async () => {
  await server?.kill();
  server = undefined;
});

async function serverWith(args: readonly string[] = []): Promise<ConnectivityServer> {
  server = await startServer(scene.plane.kubeconfig, ['-allow-anonymous', ...args]);
  return server;
}

async function report(to: ConnectivityServer, pod = 'netchecker-agent-a', change: object = {}): Promise<void> {
  const body = JSON.stringify({ report_interval: 60, nodename: 'n1', podname: pod, ...change });
  expect((await to.ask(`/api/v1/agents/${pod}`, { method: 'POST', body })).status).toBe(200);
}

/** A second later than the last one: reports are limited to one per second. */
async function nextReport(to: ConnectivityServer): Promise<void> {
  await vi.waitFor(() => report(to), { interval: 100 });
}

/** The number of reports that the store has of the agent. */
async function storedCount(): Promise<number | undefined> {
  const agents = await scene.connected.client.list(AGENTS, { namespace: 'default' });
  return agents.find(({ metadata }) => metadata?.name === 'netchecker-agent-a')?.status?.reportCount;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Writes of Agent objects since a time, by their arrival. */
function writesSince(from: number): AuditedRequest[] {
  return audited(scene.plane)
    .filter(
      ({ resource, verb, at }) => resource === 'agents' && /^(create|patch|update|delete)/.test(verb) && at >= from,
    )
    .sort((a, b) => a.at - b.at);
}

describe('a server that restarts', () => {
  it.each(RESTARTS)('%s, keeps counters and finds no agent absent', async (_, seconds) => {
    const before = await serverWith();
    await vi.waitFor(async () => expect((await before.ask(CHECK)).text).not.toContain('not read'));
    await nextReport(before);
    const written = (await before.series(COUNT))!;
    await vi.waitFor(async () => expect(await storedCount()).toBe(written));
    // Not written: the contents are the same.
    for (let n = 0; n < 2; n++) await nextReport(before);
    const count = (await before.series(COUNT))!;
    expect([count, await storedCount()]).toEqual([written + 2, written]);
    await before.kill();
    const after = await withNodeOptions(clockOption('shiftClock', seconds), () => serverWith());
    const answers: number[] = [];
    await vi.waitFor(async () => {
      answers.push((await after.ask(CHECK)).status);
      expect(answers.at(-1)).toBe(200);
    });
    expect(answers).not.toContain(400);
    expect(await after.series(COUNT)).toBeGreaterThanOrEqual(count);
  });
});

describe('a clock that jumps while the server runs', () => {
  const ERRORS = 'ncagent_error_count_total{agent="n1-private_network"}';

  /** A server with a report, right after a jump of its clock. */
  async function jumpedServer(jumpS: number, change: object = {}): Promise<ConnectivityServer> {
    const running = await withNodeOptions(clockOption('jumpClock', jumpS), () => serverWith(['-report-ttl=4']));
    await vi.waitFor(async () => expect((await running.ask(CHECK)).text).not.toContain('not read'));
    await vi.waitFor(() => report(running, 'netchecker-agent-a', change), { interval: 100 });
    process.kill(running.pid, 'SIGUSR2');
    return running;
  }

  it.each([
    ['ahead', HOUR_S],
    ['back', -HOUR_S],
  ])('an hour %s: no agent is absent, no counter falls, and the store is written', async (_, jumpS) => {
    const running = await jumpedServer(jumpS);
    const count = (await running.series(COUNT))!;
    // The server counts missing reports every second.
    const until = performance.now() + 3_000;
    while (performance.now() < until) {
      expect((await running.ask(CHECK)).status).toBe(200);
      await pause(200);
    }
    for (let n = 0; n < 3; n++) await nextReport(running);
    const { spec } = (await running.ask('/api/v1/agents/netchecker-agent-a')).json() as Jumped;
    expect(Math.round((Date.parse(spec.last_updated) - Date.now()) / 100_000) * 100).toBe(jumpS);
    expect([await running.series(COUNT), await running.series(ERRORS)]).toEqual([count + 3, 0]);
    await vi.waitFor(async () => expect(await storedCount()).toBeGreaterThan(count));
  });

  it('an hour back: an agent that stops is outdated as soon as without the jump', async () => {
    const running = await jumpedServer(-HOUR_S, { report_interval: 1 });
    await vi.waitFor(async () =>
      expect((await running.ask(CHECK)).text).toContain('"Outdated":["netchecker-agent-a"]'),
    );
    await vi.waitFor(async () => expect(await running.series(ERRORS)).toBeGreaterThan(0));
  });
});

interface Jumped {
  readonly spec: { readonly last_updated: string };
}

describe('the store of Agent objects', () => {
  it('is written for the same report at most every half TTL', async () => {
    const running = await serverWith(['-report-ttl=8']);
    await nextReport(running);
    await vi.waitFor(async () => expect((await running.ask(CHECK)).status).toBe(200));
    const from = Date.now();
    // Three writes take 8 to 12 s, and longer on a busy machine.
    while (writesSince(from).length < 3 && Date.now() < from + 120_000) {
      await nextReport(running);
      await pause(300);
    }
    const times = writesSince(from).map(({ at }) => at);
    const pauses = times.slice(1).map((at, n) => at - times[n]!);
    expect(times.length).toBeGreaterThanOrEqual(3);
    // The server measures from the start of a write, and the log has its arrival.
    expect(Math.min(...pauses)).toBeGreaterThan(3_900);
  });

  it('takes at most 10 writes a second of 300 agents whose contents change all the time', async () => {
    const running = await serverWith();
    const pods = Array.from({ length: 300 }, (_, n) => `agent-${n}`);
    const from = Date.now();
    // So many writes take 10 s, and longer on a busy machine.
    const isEnough = () => Date.now() > from + 10_000 && writesSince(from).length > 50;
    for (let round = 0; !isEnough() && Date.now() < from + 120_000; round++) {
      const change = { nodename: 'n2', ips: { lo: [`127.0.${round >> 8}.${round % 256}/8`] } };
      await Promise.all(pods.map((pod) => report(running, pod, change)));
      await pause(1_000);
    }
    const times = writesSince(from).map(({ at }) => at);
    const seconds = (Date.now() - from) / 1_000;
    expect(times.length).toBeGreaterThan(50);
    expect(times.length / seconds).toBeLessThanOrEqual(10);
    // Of each 11 in a row, the last comes a second after the first: less what the arrival of one is delayed.
    const spans = times.slice(10).map((at, n) => at - times[n]!);
    expect(Math.min(...spans)).toBeGreaterThan(900);
  });
});

describe('an API server that is away', () => {
  it('for longer than the TTL: reports are taken, the check succeeds, and all is written again', async () => {
    const running = await serverWith(['-report-ttl=2']);
    await nextReport(running);
    await vi.waitFor(async () => expect((await running.ask(CHECK)).status).toBe(200));
    const before = (await running.series(COUNT))!;
    await scene.plane.stopApiServer();
    for (let n = 1; n <= 6; n++) {
      await nextReport(running);
      expect((await running.ask(CHECK)).status).toBe(200);
      expect(await running.series(COUNT)).toBe(before + n);
    }
    await scene.plane.startApiServer();
    await vi.waitFor(async () => expect(await storedCount()).toBe(before + 6));
  });

  it('at the start: the check says so, and the agents are read once it is back', async () => {
    const before = await serverWith();
    await nextReport(before);
    await vi.waitFor(async () => expect((await before.ask(CHECK)).status).toBe(200));
    await vi.waitFor(async () => expect(await storedCount()).toBeDefined());
    const count = (await before.series(COUNT))!;
    await before.kill();
    await scene.plane.stopApiServer();
    const running = await serverWith();
    await nextReport(running);
    const { status, text } = await running.ask(CHECK);
    expect([status, text]).toEqual([500, expect.stringMatching(/the stored reports are not read yet/)]);
    await scene.plane.startApiServer();
    const answers: number[] = [];
    await vi.waitFor(async () => {
      answers.push((await running.ask(CHECK)).status);
      expect(answers.at(-1)).toBe(200);
    });
    expect(answers).not.toContain(400);
    expect(await running.series(COUNT)).toBeGreaterThanOrEqual(count + 1);
  });
});
