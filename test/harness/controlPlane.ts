import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { binary } from '../lab/binaries.ts';
import { createAuthority, createUser } from './pki.ts';
import { freePorts, start, whenReady } from './process.ts';
import type { RunningProcess } from './process.ts';

/** A real etcd and kube-apiserver on loopback, without controllers, scheduler or nodes. */
export interface ControlPlane {
  /** Path of a kubeconfig of a cluster administrator (group system:masters). */
  readonly kubeconfig: string;
  /** https://127.0.0.1:port */
  readonly url: string;
  /** Certificates, kubeconfigs, logs and data. stop removes it. */
  readonly directory: string;
  /** Path of the API server's audit log: one event per line for every request, metadata only (audit.k8s.io/v1). */
  readonly auditLog: string;
  /** The running processes, which a test may pause (SIGSTOP, SIGCONT). */
  readonly pids: { readonly etcd: number; readonly apiServer: number };
  /** Path of a kubeconfig of another user, for tests of RBAC. */
  user(name: string, groups?: readonly string[]): Promise<string>;
  /** Kills the API server. Its port refuses connections until startApiServer. */
  stopApiServer(): Promise<void>;
  /** Starts the API server again, with the same port and data. */
  startApiServer(): Promise<void>;
  /** Kills both servers. The directory stays. */
  stopServers(): Promise<void>;
  /** Stops everything and removes the directory. */
  stop(): Promise<void>;
}

/** Where etcdTemplate puts the path of the data with which each etcd of a level begins. */
export const TEMPLATE_VARIABLE = 'TRAFFIC_OPERATOR_TEST_ETCD';
/** The data of etcd, in the directory of a control plane. */
export const ETCD_DATA = 'etcd';
const AUDIT_LOG = 'audit.log';
/** User, request and response status; times of the response and, for a watch, of its end. */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  omitManagedFields: true,
  rules: [{ level: 'Metadata' }],
};

/** Options of a control plane. */
export interface ControlPlaneOptions {
  /** Content of the audit log, of kind Policy (audit.k8s.io/v1). Default: everything. */
  auditPolicy?: object;
  etcdFlags?: readonly string[];
  apiServerFlags?: readonly string[];
  /** Whether pods need a ServiceAccount that exists. Default: false, since no controller makes the default one. */
  serviceAccounts?: boolean;
}

/** Starts a control plane; takes about 5 s. Throws with the end of the log of the server that failed. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-control-plane-'));
  const [client, peer, secure] = (await freePorts(3)) as [number, number, number];
  const url = `https://127.0.0.1:${secure}`;
  const running: RunningProcess[] = [];
  const stopServers = async (): Promise<void> => {
    await Promise.all(running.map((each) => each.stop()));
  };
  const stop = async (): Promise<void> => {
    await stopServers();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await createAuthority(directory);
    await writeFile(`${directory}/audit-policy.yaml`, JSON.stringify(options.auditPolicy ?? AUDIT_POLICY));
    const kubeconfig = await createUser(directory, url, 'admin', ['system:masters']);
    // With other flags, an API server may make other things at its first start.
    const isPlain = options.etcdFlags === undefined && options.apiServerFlags === undefined;
    const template = isPlain ? process.env[TEMPLATE_VARIABLE] : undefined;
    if (template !== undefined) await copyEtcdData(template, directory);
    const etcd = await startEtcd(directory, client, peer, options.etcdFlags);
    running.push(etcd);
    const startServer = (): Promise<RunningProcess> => startApiServer(directory, client, secure, flagsOf(options));
    let apiServer = await startServer();
    running.push(apiServer);
    return {
      kubeconfig,
      url,
      directory,
      auditLog: `${directory}/${AUDIT_LOG}`,
      get pids() {
        return { etcd: etcd.pid, apiServer: apiServer.pid };
      },
      user: (name, groups) => createUser(directory, url, name, groups),
      stopApiServer: () => apiServer.stop(),
      startApiServer: async () => {
        apiServer = await startServer();
        running.push(apiServer);
      },
      stopServers,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Copies the data of an etcd that does not run into `directory`. Most of a log of etcd is reserved, and empty. */
export async function copyEtcdData(from: string, directory: string): Promise<void> {
  await promisify(execFile)('cp', ['-r', '--sparse=always', from, join(directory, ETCD_DATA)]);
}

async function startEtcd(
  directory: string,
  client: number,
  peer: number,
  flags: readonly string[] = [],
): Promise<RunningProcess> {
  const url = `http://127.0.0.1:${client}`;
  const peerUrl = `http://127.0.0.1:${peer}`;
  const args = [
    `--data-dir=${join(directory, ETCD_DATA)}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--unsafe-no-fsync', // nothing here outlives the test
    '--log-level=warn',
    ...flags,
  ];
  const etcd = start(await binary('etcd'), args, `${directory}/etcd.log`);
  await whenReady('etcd', etcd, async () => (await fetch(`${url}/health`)).ok).catch(stopThenThrow(etcd));
  return etcd;
}

async function startApiServer(
  directory: string,
  etcd: number,
  port: number,
  flags: readonly string[] = [],
): Promise<RunningProcess> {
  const args = [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--endpoint-reconciler-type=none', // a loopback address may not be an endpoint
    '--service-cluster-ip-range=10.0.0.0/24',
    `--client-ca-file=${directory}/ca.crt`,
    `--tls-cert-file=${directory}/apiserver.crt`,
    `--tls-private-key-file=${directory}/apiserver.key`,
    `--service-account-key-file=${directory}/sa.pub`,
    `--service-account-signing-key-file=${directory}/sa.key`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--authorization-mode=Node,RBAC',
    `--audit-policy-file=${directory}/audit-policy.yaml`,
    `--audit-log-path=${directory}/${AUDIT_LOG}`,
    '--allow-privileged',
    ...flags,
  ];
  const server = start(await binary('kube-apiserver'), args, `${directory}/apiserver.log`);
  const ready = () => isReady(directory, port);
  await whenReady('kube-apiserver', server, ready).catch(stopThenThrow(server));
  return server;
}

function flagsOf({ serviceAccounts = false, apiServerFlags = [] }: ControlPlaneOptions): string[] {
  return [...(serviceAccounts ? [] : ['--disable-admission-plugins=ServiceAccount']), ...apiServerFlags];
}

function stopThenThrow(running: RunningProcess): (error: unknown) => Promise<never> {
  return async (error) => {
    await running.stop();
    throw error;
  };
}

/** The API server creates the namespace `default` shortly after it is ready. */
async function isReady(directory: string, port: number): Promise<boolean> {
  const [ca, cert, key] = await Promise.all(
    ['ca.crt', 'admin.crt', 'admin.key'].map((f) => readFile(`${directory}/${f}`)),
  );
  // Closes its connection, so that the polls of a slow start do not leave many connections.
  const get = (path: string) =>
    new Promise<boolean>((resolve, reject) => {
      let isOk = false;
      const call = request({ host: '127.0.0.1', port, path, ca, cert, key, agent: false, timeout: 2_000 }, (answer) => {
        answer.resume();
        isOk = answer.statusCode === 200;
      });
      call.once('timeout', () => call.destroy(new Error('no answer in 2 s'))).once('error', reject);
      call.once('socket', (socket) => socket.once('close', () => resolve(isOk)));
      call.end();
    });
  return (await get('/readyz')) && (await get('/api/v1/namespaces/default'));
}
