import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PKI = fileURLToPath(new URL('../lab/lib/pki.sh', import.meta.url));

/** Calls functions of the lab's pki.sh in a directory; `$1`... are the arguments. */
async function pki(directory: string, script: string, ...args: string[]): Promise<void> {
  await run('bash', ['-euo', 'pipefail', '-c', `source "$0"\n${script}`, PKI, ...args], { cwd: directory });
}

/** Writes ca.crt, ca.key, sa.key, sa.pub, apiserver.crt and apiserver.key for a server on loopback. */
export function createAuthority(directory: string): Promise<void> {
  return pki(
    directory,
    `pki_ca
     pki_service_account_key
     pki_certificate apiserver /CN=kube-apiserver IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc`,
  );
}

/**
 * Writes `<name>.conf`, a kubeconfig with a client certificate, and returns its path. Without `groups` RBAC grants the
 * user nothing.
 */
export async function createUser(
  directory: string,
  url: string,
  name: string,
  groups: readonly string[] = [],
): Promise<string> {
  const subject = [...groups.map((group) => `/O=${group}`), `/CN=${name}`].join('');
  await pki(directory, `pki_certificate "$1" "$2"; pki_kubeconfig "$1" "$3"`, name, subject, url);
  return `${directory}/${name}.conf`;
}

/** Writes `<name>.crt` and `<name>.key`, signed by the authority in the directory, for a client and for a server. */
export function createCertificate(directory: string, name: string, subjectAltName = `DNS:${name}`): Promise<void> {
  return pki(directory, 'pki_certificate "$1" "/CN=$1" "$2"', name, subjectAltName);
}
