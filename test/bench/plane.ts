import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Client } from '../../src/runtime/client/client.ts';
import { NODES } from '../../src/runtime/client/resources.ts';
import { installCrd } from '../harness/customResource.ts';
import { connect } from '../harness/runtimeScene.ts';
import { startControlPlane, type ControlPlane } from '../harness/controlPlane.ts';
import { binary } from '../lab/binaries.ts';
import { inParallel } from '../harness/inParallel.ts';
import { nodeObject } from './nodeObjects.ts';
import { nodeName } from './shape.ts';

const run = promisify(execFile);
const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));

export const NAMESPACE = 'traffic-operator-system';
const SERVICE_ACCOUNT = 'traffic-operator';
const OPERATOR_USER = `system:serviceaccount:${NAMESPACE}:${SERVICE_ACCOUNT}`;
const GIB = 1024 ** 3;

/** Only requests of the operator: requests of the benchmark would make the log ten times as long. */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  omitManagedFields: true,
  rules: [{ level: 'Metadata', users: [OPERATOR_USER] }, { level: 'None' }],
};

/** An API server with the CRD, the rights and the admission policy of deploy/, and nodes. */
export interface Plane {
  readonly controlPlane: ControlPlane;
  /** The client of an administrator. */
  readonly client: Client;
  /** The kubeconfig of the operator's ServiceAccount. */
  readonly kubeconfig: string;
  readonly token: string;
  readonly ca: Buffer;
  /** Creates nodes up to this number, and deletes those beyond it. */
  setNodes(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it without nodes. No controller creates pods of the Deployment. */
export async function startPlane(): Promise<Plane> {
  // Every change of a Node adds 12 KiB until etcd is compacted, which the API server requests every minute here.
  const controlPlane = await startControlPlane({
    auditPolicy: AUDIT_POLICY,
    etcdFlags: [`--quota-backend-bytes=${8 * GIB}`],
    apiServerFlags: ['--etcd-compaction-interval=1m', '--audit-log-maxsize=0'],
  });
  const { client, transport } = connect(controlPlane);
  const ca = await readFile(join(controlPlane.directory, 'ca.crt'));
  const token = await deploy(controlPlane, client);
  let nodes = 0;
  return {
    controlPlane,
    client,
    kubeconfig: await kubeconfigOf(controlPlane, token, ca),
    token,
    ca,
    setNodes: async (count) => {
      const added = Array.from({ length: Math.max(0, count - nodes) }, (_, n) => nodes + n);
      const removed = Array.from({ length: Math.max(0, nodes - count) }, (_, n) => count + n);
      await inParallel(added, (index) => client.create(NODES, nodeObject(index)));
      await inParallel(removed, (index) => client.delete(NODES, { name: nodeName(index) }));
      nodes = count;
    },
    stop: async () => {
      await transport.close();
      await controlPlane.stop();
    },
  };
}

/** @returns a token of the operator's ServiceAccount */
async function deploy({ kubeconfig }: ControlPlane, client: Client): Promise<string> {
  const kubectl = await binary('kubectl');
  const call = async (...args: string[]): Promise<string> =>
    (await run(kubectl, [`--kubeconfig=${kubeconfig}`, ...args])).stdout.trim();
  await installCrd(client);
  const manifests = ['namespace.yaml', 'operator.yaml'].flatMap((file) => ['-f', join(DEPLOY, file)]);
  await call('apply', '--server-side', ...manifests);
  return call('create', 'token', SERVICE_ACCOUNT, '-n', NAMESPACE, '--duration=12h');
}

async function kubeconfigOf({ url, directory }: ControlPlane, token: string, ca: Buffer): Promise<string> {
  const path = join(directory, 'operator.conf');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bench', cluster: { server: url, 'certificate-authority-data': ca.toString('base64') } }],
    users: [{ name: 'operator', user: { token } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'operator' } }],
    'current-context': 'bench',
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}
