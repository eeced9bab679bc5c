import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ControlPlane } from '../harness/controlPlane.ts';
import { connect } from '../harness/runtimeScene.ts';
import { SERVICE_ACCOUNTS } from '../../src/runtime/client/resources.ts';
import { grantOperator } from './rbac.ts';

const NAMESPACE = 'default';

/** A ServiceAccount's token in a file, mounted and replaced as a kubelet does with a projected volume. */
export interface TokenFile {
  /** Uses the file as a pod's configuration does: by a provider that reads it. */
  readonly kubeconfig: string;
  /** Puts the token of another account in place, one that may do the same; returns that account's user name. */
  become(account: string): Promise<string>;
  /** Deletes an account, and so ends the tokens that it has. */
  revoke(account: string): Promise<void>;
}

/** @param account the one to begin with; it is made here, with the rights of an operator */
export async function createTokenFile(plane: ControlPlane, account: string): Promise<TokenFile> {
  const directory = join(plane.directory, 'token');
  await mkdir(directory);
  const become = async (name: string): Promise<string> => {
    const version = `..${name}`;
    await mkdir(join(directory, version));
    await writeFile(join(directory, version, 'token'), await createAccount(plane, name));
    await symlink(version, join(directory, '..data_tmp'));
    await rename(join(directory, '..data_tmp'), join(directory, '..data'));
    return `system:serviceaccount:${NAMESPACE}:${name}`;
  };
  await become(account);
  await symlink('..data/token', join(directory, 'token'));
  const provider = { name: 'tokenFile', config: { tokenFile: join(directory, 'token') } };
  const config = {
    clusters: [{ name: 'c', cluster: { server: plane.url, 'certificate-authority': join(plane.directory, 'ca.crt') } }],
    users: [{ name: 'u', user: { 'auth-provider': provider } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  };
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(config));
  const revoke = (name: string): Promise<void> =>
    withAdministrator(plane, async ({ client }) => {
      await client.delete(SERVICE_ACCOUNTS, { namespace: NAMESPACE, name });
    });
  return { kubeconfig, become, revoke };
}

/** Makes an account that may do what an operator does; returns a token for it. */
function createAccount(plane: ControlPlane, name: string): Promise<string> {
  return withAdministrator(plane, async ({ client, transport }) => {
    await client.create(SERVICE_ACCOUNTS, { metadata: { namespace: NAMESPACE, name } });
    await grantOperator(client, { kind: 'ServiceAccount', namespace: NAMESPACE, name });
    const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${name}/token`;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { status } = await transport.request<{ status: { token: string } }>({ method: 'POST', path, body });
    return status.token;
  });
}

async function withAdministrator<R>(
  plane: ControlPlane,
  work: (connected: ReturnType<typeof connect>) => Promise<R>,
): Promise<R> {
  const connected = connect(plane);
  try {
    return await work(connected);
  } finally {
    await connected.transport.close();
  }
}
