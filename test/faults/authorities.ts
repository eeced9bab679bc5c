import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ControlPlane } from '../harness/controlPlane.ts';
import { createAuthority } from '../harness/pki.ts';

const run = promisify(execFile);

/** A client's own copy of what it trusts and who it is, in files that are replaced as a kubelet or cert-manager does. */
export interface CredentialFiles {
  readonly kubeconfig: string;
  /** Puts the certificate of another user of the control plane's authority in place. */
  become(user: string): Promise<void>;
  /** Trusts these authorities (PEM) from now on. */
  trust(...authorities: string[]): Promise<void>;
}

/** Files of a cluster administrator of the name `user`. */
export async function createCredentialFiles(plane: ControlPlane, user: string): Promise<CredentialFiles> {
  const directory = join(plane.directory, 'credentials');
  await mkdir(directory);
  const become = async (name: string): Promise<void> => {
    await plane.user(name, ['system:masters']);
    for (const part of ['crt', 'key']) {
      await copyFile(join(plane.directory, `${name}.${part}`), join(directory, `next.${part}`));
    }
    // The key first: whoever looks in between finds two that do not fit, and must keep what it has.
    await rename(join(directory, 'next.key'), join(directory, 'client.key'));
    await rename(join(directory, 'next.crt'), join(directory, 'client.crt'));
  };
  const trust = async (...authorities: string[]): Promise<void> => {
    await writeFile(join(directory, 'next'), authorities.join('\n'));
    await rename(join(directory, 'next'), join(directory, 'ca.crt'));
  };
  await become(user);
  await trust(await readFile(join(plane.directory, 'ca.crt'), 'utf8'));
  const config = {
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: plane.url, 'certificate-authority': join(directory, 'ca.crt') } }],
    users: [
      {
        name: 'u',
        user: { 'client-certificate': join(directory, 'client.crt'), 'client-key': join(directory, 'client.key') },
      },
    ],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  };
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }));
  return { kubeconfig, become, trust };
}

/**
 * Replaces the certificate that the API server shows by one of a new authority, which the API server reads by itself;
 * what clients' certificates are checked against stays.
 *
 * @returns the new authority, PEM
 */
export async function replaceServerCertificate(plane: ControlPlane): Promise<string> {
  const directory = join(plane.directory, 'new-authority');
  await mkdir(directory);
  await createAuthority(directory);
  for (const part of ['key', 'crt']) {
    await copyFile(join(directory, `apiserver.${part}`), join(plane.directory, `apiserver.${part}`));
  }
  return readFile(join(directory, 'ca.crt'), 'utf8');
}

/** Whether the API server shows a certificate of this authority to whoever connects now. */
export async function isServedBy(plane: ControlPlane, authority: string): Promise<boolean> {
  const file = join(plane.directory, 'asked-authority.crt');
  await writeFile(file, authority);
  const address = new URL(plane.url).host;
  const args = ['s_client', '-connect', address, '-CAfile', file, '-verify_return_error', '-verify_ip', '127.0.0.1'];
  return run('bash', ['-c', 'openssl "$@" </dev/null', 'openssl', ...args]).then(
    () => true,
    () => false,
  );
}
