import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LEASES, NAMESPACES } from '../../src/runtime/client/resources.ts';
import { useConnectedPlane } from './connectedPlane.ts';
import { CRDS, trafficWatchCrd } from '../harness/customResource.ts';
import { freePorts, start, type RunningProcess } from '../harness/process.ts';
import { operatorMain } from '../harness/operatorMain.ts';
import { measured } from '../harness/measured.ts';
import { SLACK } from '../harness/slack.ts';

const NAMESPACE = 'traffic-operator-system';
const LEASE = { namespace: NAMESPACE, name: 'traffic-operator' };

describe('the operator’s process', () => {
  const scene = useConnectedPlane(({ client }) => client.create(NAMESPACES, { metadata: { name: NAMESPACE } }));
  let running: RunningProcess | undefined;
  let log: string;
  let healthUrl: string;
  let metricsUrl: string;
  let count = 0;

  afterEach(async () => {
    await running?.stop();
  });

  /** Its Prometheus does not answer; these tests are about the process. */
  const startOperator = async (): Promise<void> => {
    const [health, metrics] = (await freePorts(2)) as [number, number];
    log = join(scene.plane.directory, `operator-${++count}.log`);
    healthUrl = `http://127.0.0.1:${health}`;
    metricsUrl = `http://127.0.0.1:${metrics}/metrics`;
    const addresses = [
      `--health-probe-bind-address=127.0.0.1:${health}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
    ];
    const args = [
      `--kubeconfig=${scene.plane.kubeconfig}`,
      '--leader-elect',
      '--weights',
      '--prometheus-url=http://127.0.0.1:9',
    ];
    running = start(process.execPath, [operatorMain(), ...args, ...addresses], log);
  };
  const get = async (path: string): Promise<[number, string]> => {
    const response = await fetch(healthUrl + path);
    return [response.status, await response.text()];
  };
  const until = (assertion: () => Promise<unknown>): Promise<unknown> =>
    vi.waitFor(assertion, { timeout: 90_000, interval: 50 });
  /** @returns how it ended, and the milliseconds that took */
  const terminate = async (): Promise<{ how: string; ms: number }> => {
    const begin = performance.now();
    process.kill(running!.pid, 'SIGTERM');
    await running!.ended;
    const ms = performance.now() - begin;
    try {
      running!.check();
    } catch (error) {
      return { how: (error as Error).message, ms };
    }
    return { how: 'runs', ms };
  };

  it('is alive but not ready before its caches are synced, names the missing one, and still ends in time', async () => {
    await startOperator();
    await until(async () => expect(await get('/healthz')).toEqual([200, 'ok\n']));
    const [status, text] = await get('/readyz');
    expect([status, text]).toEqual([
      503,
      expect.stringContaining('trafficwatches.traffic.example.com failed: not synced'),
    ]);
    const { how, ms } = await terminate();
    expect(how).toContain('exit code 0');
    measured(`the operator ended ${Math.round(ms)} ms after SIGTERM`);
    expect(ms).toBeLessThan(SLACK * 5_000);
  });

  it('is ready when its caches are synced, leads, and releases its lease on SIGTERM', async () => {
    await scene.connected.client.create(CRDS, trafficWatchCrd());
    await startOperator();
    await until(async () => expect(await get('/readyz')).toEqual([200, 'ok\n']));
    const metrics = async (): Promise<string> => (await fetch(metricsUrl)).text();
    await until(async () => expect(await metrics()).toContain('traffic_operator_leader{process="manager"} 1\n'));
    expect(await metrics()).toContain('traffic_operator_process_expected{process="weights"} 1\n');
    expect(await metrics()).toMatch(/traffic_operator_api_requests_total\{.*resource="leases/);
    const { how, ms } = await terminate();
    expect(how).toContain('exit code 0');
    measured(`the operator ended ${Math.round(ms)} ms after SIGTERM`);
    expect(ms).toBeLessThan(SLACK * 5_000);
    expect((await scene.connected.client.get(LEASES, LEASE)).spec!.holderIdentity).toBe('');
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(
      expect.arrayContaining(['starting', 'started leading', 'stopping', 'released the Lease', 'stopped']),
    );
  });

  it('ends in time without the API server', async () => {
    await startOperator();
    await until(async () => expect((await get('/readyz'))[0]).toBe(200));
    await scene.plane.stopApiServer();
    const { how, ms } = await terminate();
    expect(how).toContain('exit code 0');
    measured(`the operator ended ${Math.round(ms)} ms after SIGTERM`);
    expect(ms).toBeLessThan(SLACK * 5_000);
  });
});

describe('wrong usage', () => {
  const run = (args: readonly string[]): Promise<{ code: unknown; stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      execFile(process.execPath, [operatorMain(), ...args], (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
      );
    });

  it.each([
    [['manager', '--leader-elekt'], '--leader-elekt: unknown flag; `manager --help` lists all flags'],
    [['connectivity-agent', '-probeurls=ftp://a'], '--probeurls=ftp://a: must be up to 50 URLs of http or https'],
  ])('%j is one line and exit 2', async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringContaining(`traffic-operator: ${message}`)]);
  });

  it.each([
    [['--kubeconfig=/nonexistent/config'], '--kubeconfig=/nonexistent/config: cannot be used'],
    [
      [`--kubeconfig=${fileURLToPath(new URL('testdata/kubeconfig.yaml', import.meta.url))}`].concat([
        '--metrics-secure',
        '--metrics-bind-address=127.0.0.1:0',
        '--metrics-cert-path=/nonexistent',
      ]),
      '--metrics-cert-path=/nonexistent: tls.crt cannot be read (ENOENT)',
    ],
  ])('a file that is not there is one line and exit 2: %j', async (args, message) => {
    const { code, stderr } = await run(['manager', ...args]);
    expect(code).toBe(2);
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringContaining(`traffic-operator: ${message}`)]);
  });

  it('help and version are no errors', async () => {
    expect(await run(['manager', '--help'])).toMatchObject({ code: 0, stderr: '' });
    expect(await run(['version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    });
  });
});
