import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'undici';
import { FIELD_MANAGER } from '../../../src/controllers/trafficweight/weightObjects.ts';
import { APPLIED_HASH_ANNOTATION, appliedHash } from '../../../src/runtime/apply/apply.ts';
import { apiVersionOf, resourcePath } from '../../../src/runtime/client/resource.ts';
import { DNS_ENDPOINTS, type DnsEndpoint } from '../../../src/weights/records/endpoint.ts';
import type { ControlPlane } from '../../harness/controlPlane.ts';
import { inParallel } from '../../harness/inParallel.ts';

/**
 * Sends the PATCHes of a changed weight, which are made before, with a client that discards the responses. The operator that
 * starts afterwards with this weight finds nothing to write.
 *
 * @param user whose certificate it has
 * @param live the DNSEndpoints as the operator has written them
 * @returns milliseconds
 */
export async function barePatches(
  { directory, url }: Pick<ControlPlane, 'directory' | 'url'>,
  { user, live, weight }: { user: string; live: readonly DnsEndpoint[]; weight: number },
): Promise<number> {
  const read = (file: string): Promise<Buffer> => readFile(join(directory, file));
  const [ca, cert, key] = await Promise.all([read('ca.crt'), read(`${user}.crt`), read(`${user}.key`)]);
  const client = new Client(url, { allowH2: true, connect: { ca, cert, key } });
  const patches = live.map((endpoint) => patchOf(endpoint, weight));
  try {
    const begin = performance.now();
    await inParallel(patches, (patch) => send(client, patch));
    return performance.now() - begin;
  } finally {
    await client.destroy();
  }
}

interface Patch {
  readonly path: string;
  readonly body: string;
}

/** The patch that the operator applies. */
function patchOf({ metadata = {}, spec }: DnsEndpoint, weight: number): Patch {
  const { name, namespace, uid, labels, annotations, ownerReferences } = metadata;
  const endpoints = spec?.endpoints?.map((each) => ({
    ...each,
    providerSpecific: [{ name: 'aws/weight', value: String(weight) }],
  }));
  const desired = {
    ...{ apiVersion: apiVersionOf(DNS_ENDPOINTS), kind: DNS_ENDPOINTS.kind },
    metadata: { name, namespace, labels, annotations, ownerReferences },
    spec: { endpoints },
  } as DnsEndpoint;
  const stamped = { ...annotations, [APPLIED_HASH_ANNOTATION]: appliedHash(desired) };
  return {
    path: `${resourcePath(DNS_ENDPOINTS, metadata)}?fieldManager=${FIELD_MANAGER}&force=true`,
    body: JSON.stringify({ ...desired, metadata: { ...desired.metadata, annotations: stamped, uid } }),
  };
}

async function send(client: Client, { path, body: patch }: Patch): Promise<void> {
  const headers = { 'content-type': 'application/apply-patch+yaml', accept: 'application/json' };
  const { statusCode, body } = await client.request({ method: 'PATCH', path, headers, body: patch });
  await body.dump();
  if (statusCode !== 200) throw new Error(`PATCH of ${path}: HTTP ${statusCode}`);
}
