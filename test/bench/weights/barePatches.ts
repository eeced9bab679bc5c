import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'undici';
import type { ControlPlane } from '../../harness/controlPlane.ts';
import { inParallel } from '../../harness/inParallel.ts';
import { NAMESPACE } from './cluster.ts';

const PATH = `/apis/externaldns.k8s.io/v1alpha1/namespaces/${NAMESPACE}/dnsendpoints`;

/**
 * Applies one annotation to each DNSEndpoint, with a client that discards the responses: as many server-side applies as a changed
 * weight needs. Milliseconds.
 *
 * @param user whose certificate it has
 */
export async function barePatches(
  { directory, url }: Pick<ControlPlane, 'directory' | 'url'>,
  { user, names, value }: { user: string; names: readonly string[]; value: string },
): Promise<number> {
  const read = (file: string): Promise<Buffer> => readFile(join(directory, file));
  const [ca, cert, key] = await Promise.all([read('ca.crt'), read(`${user}.crt`), read(`${user}.key`)]);
  const client = new Client(url, { allowH2: true, connect: { ca, cert, key } });
  try {
    const begin = performance.now();
    await inParallel(names, (name) => patch(client, name, value));
    return performance.now() - begin;
  } finally {
    await client.destroy();
  }
}

async function patch(client: Client, name: string, value: string): Promise<void> {
  const metadata = { name, namespace: NAMESPACE, annotations: { 'bench.example.com/value': value } };
  const { statusCode, body } = await client.request({
    method: 'PATCH',
    path: `${PATH}/${name}?fieldManager=bench`,
    headers: { 'content-type': 'application/apply-patch+yaml', accept: 'application/json' },
    body: JSON.stringify({ apiVersion: 'externaldns.k8s.io/v1alpha1', kind: 'DNSEndpoint', metadata }),
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`PATCH of ${name}: HTTP ${statusCode}`);
}
