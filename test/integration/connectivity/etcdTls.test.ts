import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEtcd, type Etcd } from '../../harness/etcd.ts';
import { createCertificate, createAuthority } from '../../harness/pki.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { createAgentPod, startServer, type ConnectivityServer } from './world.ts';

/** The real server with the real etcd, which serves TLS and demands client certificates. */
const scene = useConnectedPlane(({ client }) => createAgentPod(client, 'netchecker-agent-a'));

const CHECK = '/api/v1/connectivity_check';
let directory: string;
let other: string;
let etcd: Etcd;
let elsewhere: Etcd;
let server: ConnectivityServer | undefined;

beforeAll(async () => {
  [directory, other] = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'traffic-etcd-tls-'))) as [string, string];
  await createAuthority(directory);
  await createAuthority(other);
  await createCertificate(directory, 'etcd', 'IP:127.0.0.1');
  await createCertificate(directory, 'client');
  await createCertificate(other, 'client');
  etcd = await startEtcd({ directory, server: 'etcd', client: 'client' });
  elsewhere = await startEtcd({ directory, server: 'apiserver', client: 'client' });
});
afterEach(async () => {
  await server?.kill();
  server = undefined;
});
afterAll(async () => {
  await etcd.stop();
  await elsewhere.stop();
  for (const each of [directory, other]) rmSync(each, { recursive: true });
});

async function serverWith(endpoints: string, files: string, args: readonly string[]): Promise<ConnectivityServer> {
  const identity = [`-etcd-cert=${files}/client.crt`, `-etcd-key=${files}/client.key`];
  const flags = ['-kubeproxyinit=false', `-etcd-endpoints=${endpoints}`, ...identity, ...args];
  server = await startServer(scene.plane.kubeconfig, ['-allow-anonymous', ...flags]);
  return server;
}

/** Waits while the rate of the agent's reports is limited. */
async function report(to: ConnectivityServer, uptime: number, ips: object = {}): Promise<void> {
  const body = JSON.stringify({ report_interval: 60, nodename: 'n1', podname: 'netchecker-agent-a', uptime, ips });
  await vi.waitFor(async () => {
    expect((await to.ask('/api/v1/agents/netchecker-agent-a', { method: 'POST', body })).status).toBe(200);
  });
}

async function isStored(uptime: number): Promise<void> {
  await vi.waitFor(async () =>
    expect((await etcd.values('netchecker/agents/'))[0]?.value).toContain(`"uptime":${uptime},`),
  );
}

async function checkSays(of: ConnectivityServer, text: string): Promise<void> {
  await vi.waitFor(async () => {
    const answer = await of.ask(CHECK);
    expect([answer.status, answer.text]).toEqual([500, expect.stringContaining(text)]);
  });
}

describe('etcd with TLS', () => {
  it('is used with CA, client certificate and key', async () => {
    const running = await serverWith(etcd.url, directory, [`-etcd-ca=${directory}/ca.crt`]);
    await report(running, 11);
    await isStored(11);
  });

  it('uses changed files without a restart, and keeps the old ones while the new ones are broken', async () => {
    const files = mkdtempSync(join(tmpdir(), 'traffic-etcd-files-'));
    const copy = (from: string): void => {
      for (const name of ['ca.crt', 'client.crt', 'client.key']) copyFileSync(`${from}/${name}`, `${files}/${name}`);
    };
    copy(directory);
    const running = await serverWith(etcd.url, files, [`-etcd-ca=${files}/ca.crt`]);
    await report(running, 21);
    await isStored(21);
    writeFileSync(`${files}/client.crt`, '-----BEGIN CERTIFICATE-----\nMIIB');
    await report(running, 22, { lo: ['127.0.0.1/8'] });
    await isStored(22);
    expect(running.log()).toContain(`--etcd-cert=${files}/client.crt: cannot be used (not PEM, or cut off)`);
    copy(other);
    await report(running, 23);
    await vi.waitFor(() => expect(running.log()).toContain('the CA in --etcd-ca='));
    copy(directory);
    await isStored(23);
    rmSync(files, { recursive: true });
  });
});

describe('a certificate of etcd is refused', () => {
  it('if another CA signed it', async () => {
    const ca = `${other}/ca.crt`;
    const running = await serverWith(etcd.url, directory, [`-etcd-ca=${ca}`]);
    await checkSays(running, `its certificate is refused: it is not signed by the CA in --etcd-ca=${ca} (`);
  });

  it('if no CA of the system signed it, without -etcd-ca', async () => {
    const running = await serverWith(etcd.url, directory, []);
    await checkSays(running, 'its certificate is refused: it is not signed by a CA of the system; set --etcd-ca (');
  });

  it('if it is for another host', async () => {
    const url = etcd.url.replace('127.0.0.1', 'localhost');
    const running = await serverWith(url, directory, [`-etcd-ca=${directory}/ca.crt`]);
    await checkSays(running, 'its certificate is refused: it is not for localhost, the host in --etcd-endpoints (');
  });
});

describe('etcd refuses', () => {
  it('a client certificate of another CA, which the check says', async () => {
    const running = await serverWith(etcd.url, other, [`-etcd-ca=${directory}/ca.crt`]);
    await checkSays(running, `etcd at ${etcd.url}: `);
    expect(await elsewhere.values('netchecker/')).toEqual([]);
  });
});

describe('without -etcd-ca', () => {
  it('the CAs of the system are trusted', async () => {
    vi.stubEnv('SSL_CERT_FILE', `${directory}/ca.crt`);
    const running = await serverWith(elsewhere.url, directory, []).finally(() => vi.unstubAllEnvs());
    await vi.waitFor(async () => expect((await elsewhere.values('netchecker/ping'))[0]?.value).toBe('pong'));
    await report(running, 31);
    await vi.waitFor(async () => expect(await elsewhere.values('netchecker/agents/')).toHaveLength(1));
  });
});

describe('a file that cannot be used', () => {
  it('ends the process at its start, with flag and file', async () => {
    const started = serverWith(etcd.url, directory, ['-etcd-ca=/nonexistent/ca.crt']);
    await expect(started).rejects.toThrow(/--etcd-ca=\/nonexistent\/ca.crt: cannot be used \(ENOENT\); must be a PEM/);
  });
});
