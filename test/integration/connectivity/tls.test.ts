import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AGENTS } from '../../../src/api/agent/report.ts';
import { SERVER_NAME, serverAddress, SERVICE_NAME } from '../../../src/connectivity/objects/names.ts';
import {
  renderPrometheusConfig,
  SERVER_CA_DIRECTORY,
} from '../../../src/controllers/measurement/components/prometheusConfig.ts';
import { defaultMeasurementOptions } from '../../../src/controllers/measurement/options.ts';
import { createAuthority, type KeyPair } from '../../../src/runtime/testing/certificates.ts';
import { agentCrd, installCrd } from '../../harness/customResource.ts';
import { freePorts } from '../../harness/process.ts';
import { startPrometheus, type RunningPrometheus } from '../../harness/prometheus.ts';
import { SLACK } from '../../harness/slack.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { createAgentPod, startAgent, startServer, type ConnectivityServer } from './world.ts';
import type { Program } from '../../harness/program.ts';

/** A server with a certificate from a mounted Secret, and real agents that verify it. */
const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client, agentCrd(), AGENTS);
  await createAgentPod(client, 'netchecker-agent-a');
});
const [first, second] = [createAuthority('first'), createAuthority('second')];
const POD = '/api/v1/agents/netchecker-agent-a';
/** The server looks for a new certificate every 10 s, and later on a busy machine. */
const RENEWED = { timeout: 120_000, interval: 200 };
let directory: string;
let port: number;
let server: ConnectivityServer;
let agent: Program;
let prometheus: RunningPrometheus;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'traffic-connectivity-tls-'));
  for (const name of ['tls.crt', 'tls.key']) symlinkSync(`..data/${name}`, join(directory, name));
  mount('one', first.issue('server'));
  writeFileSync(join(directory, 'ca.crt'), first.cert);
  port = (await freePorts(1))[0]!;
  const ping = async (): Promise<number> => (await get('/api/v1/ping')).status;
  const args = ['-allow-anonymous', `-tls-cert-path=${directory}`];
  server = await startServer(scene.plane.kubeconfig, args, port, ping);
  // A report has half of its interval: one that must wait for a processor is not one that was refused.
  const interval = `-reportinterval=${2 * SLACK}`;
  const ca = `--server-ca-file=${join(directory, 'ca.crt')}`;
  agent = await startAgent('netchecker-agent-a', 'n1', port, [interval, ca]);
  prometheus = await startPrometheus({ config: deployedConfig(), dir: join(directory, 'prometheus') });
});
afterAll(async () => {
  await prometheus.stop();
  await agent.kill();
  await server.kill();
  rmSync(directory, { recursive: true });
});

/** Differs from that in a cluster by the place of the CA, the address of the server, and the pace. */
function deployedConfig(): string {
  mkdirSync(join(directory, 'prometheus'));
  const options = { ...defaultMeasurementOptions('default'), connectivity: true, connectivityTlsSecret: 'server-tls' };
  return renderPrometheusConfig(options)
    .replaceAll(SERVER_CA_DIRECTORY, directory)
    .replaceAll(/(scrape_interval|scrape_timeout): \d+s/g, '$1: 1s')
    .replace(serverAddress('default'), `localhost:${port}`)
    .replace(`https?://${SERVICE_NAME}[^/]*/`, 'https?://localhost[^/]*/');
}

/** Waits until Prometheus has the reports of the agent, of one second ago at most, and of its ping by HTTPS. */
async function whenScraped(): Promise<void> {
  const ping = `ncagent_http_probe_code{job="${SERVER_NAME}",url="https://localhost:${port}/api/v1/ping"}`;
  for (const series of [`up{job="${SERVER_NAME}"} == 1`, ping]) {
    await vi.waitFor(async () => {
      const query = encodeURIComponent(`${series} and on () (time() - timestamp(up{job="${SERVER_NAME}"}) < 2)`);
      const answer = await fetch(`${prometheus.url}/api/v1/query?query=${query}`);
      expect(((await answer.json()) as { data: { result: unknown[] } }).data.result).toHaveLength(1);
    }, RENEWED);
  }
}

/** Replaces the files at once, as a kubelet does: by a link to another directory. */
function mount(version: string, { cert, key }: KeyPair): void {
  mkdirSync(join(directory, version));
  writeFileSync(join(directory, version, 'tls.crt'), cert);
  writeFileSync(join(directory, version, 'tls.key'), key);
  symlinkSync(version, join(directory, '..new'));
  renameSync(join(directory, '..new'), join(directory, '..data'));
}

/** A request on a new connection, and who issued the certificate. */
function get(path: string): Promise<{ status: number; text: string; issuer: unknown }> {
  return new Promise((resolve, reject) => {
    const options = { host: 'localhost', port, path, agent: false, ca: [first.cert, second.cert] };
    request(options, (response) => {
      const issuer = (response.socket as TLSSocket).getPeerCertificate().issuer.CN;
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, issuer }));
    })
      .on('error', reject)
      .end();
  });
}

interface Stored {
  readonly spec: {
    readonly hostdate: string;
    readonly network_probes: { ConnectionResult: number; HTTPCode: number }[];
  };
}

const lastReport = async (): Promise<Stored['spec']> => (JSON.parse((await get(POD)).text) as Stored).spec;

/** Waits for a report that was made from now on. */
async function nextReport(): Promise<Stored['spec']> {
  const from = Date.now();
  return vi.waitFor(async () => {
    const report = await lastReport();
    expect(Date.parse(report.hostdate)).toBeGreaterThan(from);
    return report;
  }, RENEWED);
}

describe('a server with a mounted certificate', () => {
  it('gets reports over TLS, and answers nothing without TLS', async () => {
    expect((await nextReport()).network_probes).toMatchObject([{ ConnectionResult: 1, HTTPCode: 200 }]);
    await expect(server.ask('/api/v1/ping')).rejects.toThrow();
  });

  it('is scraped by the Prometheus that is deployed with TLS', whenScraped);

  it('uses a renewed one without a restart, while agents go on', async () => {
    writeFileSync(join(directory, 'ca.crt'), `${first.cert}${second.cert}`);
    mount('two', second.issue('server'));
    await vi.waitFor(async () => expect((await get('/api/v1/ping')).issuer).toBe('second'), RENEWED);
    // Each probe has a connection of its own, so it meets the new certificate.
    expect((await nextReport()).network_probes).toMatchObject([{ ConnectionResult: 1, HTTPCode: 200 }]);
    // A report that a busy server does not answer in time is aborted, whatever its certificate.
    const notSent = agent
      .log()
      .split('\n')
      .filter((line) => line.includes('report not sent'));
    expect(notSent.filter((line) => !line.includes('AbortError'))).toEqual([]);
    await whenScraped();
  });
});

describe('an agent', () => {
  it('sends nothing to a server whose certificate its CA did not sign', async () => {
    const ca = join(directory, 'other.crt');
    writeFileSync(ca, createAuthority('other').cert);
    const wary = await startAgent('wary', 'n1', port, [`--server-ca-file=${ca}`]);
    await vi.waitFor(() => expect(wary.log()).toContain('report not sent'));
    await wary.kill();
    expect((await get('/api/v1/agents/wary')).status).toBe(404);
  });

  it('sends nothing to a server whose certificate has expired, and reports once it is renewed', async () => {
    mount('four', first.issue('server', -1));
    await vi.waitFor(async () => expect(get('/api/v1/ping')).rejects.toThrow('certificate has expired'), RENEWED);
    const late = await startAgent('late', 'n1', port, [`--server-ca-file=${join(directory, 'ca.crt')}`]);
    await vi.waitFor(() => expect(late.log()).toContain('certificate has expired'));
    mount('five', first.issue('server'));
    // The server looks within 10 s, and the agent tries again after a pause.
    await vi.waitFor(async () => expect((await get('/api/v1/agents/late')).status).toBe(200), RENEWED);
    await late.kill();
  });
});
