import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PODS } from '../../../src/runtime/client/resources.ts';
import { startEtcd, type Etcd } from '../../harness/etcd.ts';
import { withNodeOptions } from '../../harness/nodeOptions.ts';
import { freePorts } from '../../harness/process.ts';
import { SLACK } from '../../harness/slack.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { clockOption, HOUR_S, RESTARTS } from './clocks.ts';
import { createAgentPod, startServer, type ConnectivityServer } from './world.ts';

/** The real server with the real etcd, without TLS. */
const scene = useConnectedPlane(({ client }) => createAgentPod(client, 'netchecker-agent-a'));

const CHECK = '/api/v1/connectivity_check';
const COUNT = 'ncagent_report_count_total{agent="n1-private_network"}';
const ERRORS = 'ncagent_error_count_total{agent="n1-private_network"}';

/** Of leases that must not end because a report, or its write, had to wait for a processor. */
const TTL_S = 4 * SLACK;
/** Between two reports of an agent. */
const REPORT_MS = 2_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let etcd: Etcd;
let server: ConnectivityServer | undefined;
beforeAll(async () => {
  etcd = await startEtcd();
});
afterEach(async () => {
  await server?.kill();
  server = undefined;
});
afterAll(() => etcd.stop());

/** Each test has a tree of its own. */
async function serverWith(tree: string, args: readonly string[] = []): Promise<ConnectivityServer> {
  const flags = ['-kubeproxyinit=false', `-etcd-endpoints=${etcd.url}`, `-etcd-tree=${tree}`, ...args];
  server = await startServer(scene.plane.kubeconfig, ['-allow-anonymous', ...flags]);
  return server;
}

/** Waits while the rate of the agent's reports is limited. */
async function report(to: ConnectivityServer, pod = 'netchecker-agent-a', change: object = {}): Promise<void> {
  const body = JSON.stringify({ report_interval: 60, nodename: 'n1', podname: pod, uptime: 5, ...change });
  await vi.waitFor(async () => {
    expect((await to.ask(`/api/v1/agents/${pod}`, { method: 'POST', body })).status).toBe(200);
  });
}

/** The values of the agents, parsed. */
async function stored(tree: string): Promise<{ key: string; lease: string; report: Record<string, unknown> }[]> {
  const values = await etcd.values(`${tree}/agents/`);
  return values.map(({ key, lease, value }) => ({ key, lease, report: JSON.parse(value) as Record<string, unknown> }));
}

async function checkIs(of: ConnectivityServer, status: number): Promise<void> {
  await vi.waitFor(async () => expect((await of.ask(CHECK)).status).toBe(status));
}

describe('the store etcd', () => {
  it('has the ping and the reports, each with a lease of the TTL', async () => {
    const running = await serverWith('plain', ['-report-ttl=250']);
    await report(running);
    await vi.waitFor(async () => {
      const [first, ...others] = await stored('plain');
      expect(others).toEqual([]);
      expect(first).toMatchObject({
        key: 'plain/agents/netchecker-agent-a',
        report: { podname: 'netchecker-agent-a', nodename: 'n1', uptime: 5, report_count: 1, error_count: 0 },
      });
      const ttl = await etcd.call('/v3/lease/timetolive', { ID: first!.lease });
      expect(ttl).toMatchObject({ grantedTTL: '250' });
    });
    expect(await etcd.values('plain/ping')).toEqual([{ key: 'plain/ping', value: 'pong', lease: '0' }]);
  });

  it('takes the last report, though its uptime is less after a reboot', async () => {
    const running = await serverWith('reboot');
    await report(running, 'netchecker-agent-a', { uptime: 90_000 });
    await report(running, 'netchecker-agent-a', { uptime: 3, nodename: 'n2' });
    await vi.waitFor(async () => expect((await stored('reboot')).map((each) => each.report.uptime)).toEqual([3]));
    const all = (await running.ask('/api/v1/agents/')).json();
    expect(all).toMatchObject({ 'netchecker-agent-a': { uptime: 3, nodename: 'n2' } });
  });

  it('forgets an agent that does not report any more, after the TTL', async () => {
    // The test has so long to see it.
    const running = await serverWith('expires', ['-report-ttl=20']);
    await report(running, 'netchecker-agent-a', { report_interval: 1 });
    await vi.waitFor(async () => expect(await stored('expires')).toHaveLength(1));
    await vi.waitFor(async () => expect(await stored('expires')).toEqual([]));
  });

  it('keeps an agent that reports the same for longer than the TTL', async () => {
    const running = await serverWith('lives', [`-report-ttl=${TTL_S}`]);
    const until = performance.now() + 2_500 * TTL_S;
    const counts: number[] = [];
    await report(running, 'netchecker-agent-a', { report_interval: 1 });
    await vi.waitFor(async () => expect(await stored('lives')).toHaveLength(1));
    while (performance.now() < until) {
      await report(running, 'netchecker-agent-a', { report_interval: 1 });
      counts.push((await stored('lives')).length);
      await pause(500);
    }
    expect(new Set(counts)).toEqual(new Set([1]));
  });

  it('deletes an agent whose pod is gone', async () => {
    await createAgentPod(scene.connected.client, 'netchecker-agent-b');
    const running = await serverWith('gone');
    await report(running, 'netchecker-agent-b');
    await vi.waitFor(async () => expect(await stored('gone')).toHaveLength(1));
    // The server must have seen the pod.
    await vi.waitFor(async () => expect((await running.ask(CHECK)).text).not.toContain('not read'));
    await scene.connected.transport.request({
      method: 'DELETE',
      path: '/api/v1/namespaces/default/pods/netchecker-agent-b',
      body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 },
    });
    await vi.waitFor(async () => expect(await stored('gone')).toEqual([]));
    expect(await scene.connected.client.list(PODS, { namespace: 'default' })).toHaveLength(1);
  });
});

describe('a server that restarts', () => {
  it.each(RESTARTS)('%s, keeps counters and finds no agent absent', async (_, seconds) => {
    const tree = `restart${seconds}`;
    const before = await serverWith(tree);
    for (let n = 0; n < 3; n++) await report(before);
    await report(before, 'netchecker-agent-a', { ips: {} });
    await vi.waitFor(async () => expect((await stored(tree))[0]?.report.report_count).toBe(4));
    await report(before);
    await before.kill();
    const after = await withNodeOptions(clockOption('shiftClock', seconds), () => serverWith(tree));
    await checkIs(after, 200);
    expect(await after.series(COUNT)).toBeGreaterThanOrEqual(5);
  });

  it('says that an agent had no time to report, if etcd lost it, and that it is absent only later', async () => {
    const running = await serverWith('empty', ['-reportinterval=20']);
    const answers: [number, string][] = [];
    await vi.waitFor(async () => {
      const { status, text } = await running.ask(CHECK);
      answers.push([status, text]);
      expect(status).toBe(400);
    });
    expect(answers).toContainEqual([
      500,
      'Error occurred while checking the agents. Details: since the server started, netchecker-agent-a had no time to report\n',
    ]);
    expect(answers.at(-1)?.[1]).toContain('"Absent":["netchecker-agent-a"]');
    await report(running);
    await checkIs(running, 200);
  });
});

describe('a clock that jumps while the server runs', () => {
  it.each([
    ['ahead', HOUR_S],
    ['back', -HOUR_S],
  ])('an hour %s: no agent is absent, no counter falls, and etcd is written', async (_, jumpS) => {
    const tree = `jump${jumpS}`;
    const running = await withNodeOptions(clockOption('jumpClock', jumpS), () => serverWith(tree, ['-report-ttl=4']));
    await report(running);
    await checkIs(running, 200);
    const count = (await running.series(COUNT))!;
    const storedCount = async () => (await stored(tree))[0]?.report.report_count;
    await vi.waitFor(async () => expect(await storedCount()).toBe(count));
    process.kill(running.pid, 'SIGUSR2');
    // The server counts missing reports every second.
    const until = performance.now() + 3_000;
    while (performance.now() < until) {
      expect((await running.ask(CHECK)).status).toBe(200);
      await pause(200);
    }
    for (let n = 0; n < 3; n++) await report(running);
    const { spec } = (await running.ask('/api/v1/agents/netchecker-agent-a')).json() as Jumped;
    expect(Math.round((Date.parse(spec.last_updated) - Date.now()) / 100_000) * 100).toBe(jumpS);
    expect([await running.series(COUNT), await running.series(ERRORS)]).toEqual([count + 3, 0]);
    await vi.waitFor(async () => expect(await storedCount()).toBeGreaterThan(count));
  });
});

interface Jumped {
  readonly spec: { readonly last_updated: string };
}

describe('an etcd that is away', () => {
  it('for longer than the TTL: reports are taken, the check succeeds, and all is written again', async () => {
    const running = await serverWith('outage', ['-report-ttl=2']);
    await report(running);
    await vi.waitFor(async () => expect(await stored('outage')).toHaveLength(1));
    await etcd.halt();
    const until = performance.now() + 5_000;
    while (performance.now() < until) {
      await report(running);
      expect((await running.ask(CHECK)).status).toBe(200);
      await pause(500);
    }
    const count = await running.series(COUNT);
    await etcd.startAgain();
    await vi.waitFor(async () => expect((await stored('outage'))[0]?.report.report_count).toBe(count));
    expect(running.log()).toContain('the store of the reports failed');
  });

  it('at the start: the check says so, and the agents are read once it is back', async () => {
    const before = await serverWith('late');
    await report(before);
    await vi.waitFor(async () => expect(await stored('late')).toHaveLength(1));
    await before.kill();
    await etcd.halt();
    const running = await serverWith('late');
    await vi.waitFor(async () => {
      const { status, text } = await running.ask(CHECK);
      expect([status, text]).toEqual([
        500,
        expect.stringMatching(/the stored reports are not read yet: etcd at http:\/\/127.*ECONNREFUSED/),
      ]);
    });
    await etcd.startAgain();
    await checkIs(running, 200);
    expect(await running.series(COUNT)).toBeGreaterThanOrEqual(1);
  });

  it('as the first of two endpoints: the second is used', async () => {
    const [nobody] = await freePorts(1);
    const running = await serverWith('second', [`-etcd-endpoints=http://127.0.0.1:${nobody!},${etcd.url}`]);
    await report(running);
    await vi.waitFor(async () => expect(await stored('second')).toHaveLength(1));
  });

  it('as the first of two endpoints, silent instead of closed: the second is used after the timeout', async () => {
    const silent = await startEtcd();
    process.kill(silent.pid, 'SIGSTOP');
    const running = await serverWith('silent', [`-etcd-endpoints=${silent.url},${etcd.url}`, '-ping-timeout=1']);
    await report(running);
    await vi.waitFor(async () => expect(await stored('silent')).toHaveLength(1));
    await silent.stop();
  });
});

describe('500 agents', () => {
  it('take at most 10 writes a second, leases included', async () => {
    const running = await serverWith('many', [`-report-ttl=${TTL_S}`]);
    const pods = Array.from({ length: 500 }, (_, n) => `agent-${n}`);
    const [startedAt, revision] = [performance.now(), await etcd.revision()];
    const leases = new Set<string>();
    let agents = 0;
    // On a busy machine, reports and writes come late.
    const isOver = (): boolean => {
      const since = performance.now() - startedAt;
      return since > 150_000 || (since > 8_000 && agents === pods.length && leases.size > 4);
    };
    const look = async (): Promise<void> => {
      while (!isOver()) {
        const all = await stored('many');
        agents = all.length;
        for (const { lease } of all) leases.add(lease);
        await pause(500);
      }
    };
    // Each at its own moment, so that there is something to write all the time: all at once would be five writes.
    const keepReporting = async (pod: string, n: number): Promise<void> => {
      await pause((n / pods.length) * REPORT_MS);
      for (let round = 0; !isOver(); round += 1) {
        // The contents change each time.
        await report(running, pod, { report_interval: 2, ips: { lo: [`127.0.0.${round}/8`] } });
        await pause(REPORT_MS);
      }
    };
    await Promise.all([look(), ...pods.map(keepReporting)]);
    const seconds = (performance.now() - startedAt) / 1_000;
    const puts = (await etcd.revision()) - revision;
    // All at once, while all report.
    expect(agents).toBe(pods.length);
    expect(puts).toBeGreaterThan(16);
    expect(leases.size).toBeGreaterThan(4);
    // Of each put a lease before it. One may be under way at each end.
    expect((2 * puts) / seconds).toBeLessThan(10 + 4 / seconds);
  });
});
