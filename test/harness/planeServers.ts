import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { binary } from '../lab/binaries.ts';
import { start, whenReady, type RunningProcess } from './process.ts';

/** The data of etcd, in the directory of a control plane. */
export const ETCD_DATA = 'etcd';
/** The audit log of the API server, also in that directory. */
export const AUDIT_LOG = 'audit.log';

/** Resolves when it answers. */
export async function startEtcd(
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

/** Resolves when it is ready. @param port of HTTPS */
export async function startApiServer(
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
