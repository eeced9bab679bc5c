import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1Pod } from '@kubernetes/client-node';
import { createAuthority } from '../harness/pki.ts';
import { NAMESPACE } from './install.ts';
import { applyObjects, getObject, kubectl } from './kubectl.ts';

const rbac = 'rbac.authorization.k8s.io';

/** Creates the Secret `metrics-tls` with a certificate for a server on loopback. */
export async function createMetricsCertificate(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'metrics-tls-'));
  try {
    await createAuthority(directory);
    const [key, certificate] = ['apiserver.key', 'apiserver.crt'].map((name) => join(directory, name));
    const secret = ['create', 'secret', 'tls', 'metrics-tls', `--key=${key}`, `--cert=${certificate}`];
    await kubectl(...secret, '-n', NAMESPACE);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Creates two ServiceAccounts in the namespace default: `scraper`, which may GET /metrics, and `stranger`, which may not. */
export async function createScrapers(): Promise<void> {
  const metadata = { name: 'scraper' };
  await applyObjects([
    ...['scraper', 'stranger'].map((name) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } })),
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata,
      rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'scraper' },
      subjects: [{ kind: 'ServiceAccount', name: 'scraper', namespace: 'default' }],
    },
  ]);
}

/** The answer of one of the operator's pods to GET /metrics by HTTPS, with the token of a ServiceAccount or without one. */
export async function scrape(serviceAccount?: string): Promise<{ status?: number; text: string }> {
  const token = serviceAccount && (await kubectl('create', 'token', serviceAccount)).trim();
  const selector = ['-l', 'app.kubernetes.io/component=manager'];
  const { items } = await getObject<{ items: V1Pod[] }>('pods', '-n', NAMESPACE, ...selector);
  const running = items.find(({ metadata }) => metadata?.deletionTimestamp === undefined);
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  // The certificate is for loopback. Another test checks that the server uses the Secret's certificate.
  const options = { headers, rejectUnauthorized: false, timeout: 10_000 };
  const asked = request(`https://${running?.status?.podIP}:8080/metrics`, options);
  asked.on('timeout', () => asked.destroy(new Error('no answer within 10 s'))).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, text: (await answer.toArray()).join('') };
}
