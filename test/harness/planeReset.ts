import { base64, text } from './etcd.ts';

/**
 * Keys, and prefixes with a slash at the end, that the API server itself writes, also some time after it is ready: its leases, its Service, an
 * APIService for each served group.
 */
const OWN_KEYS = [
  '/registry/leases/kube-system/',
  '/registry/masterleases/',
  '/registry/apiregistration.k8s.io/',
  '/registry/services/specs/default/kubernetes',
  '/registry/ipaddresses/10.0.0.1',
];
const ALL = { key: base64('/'), range_end: base64('0') };
const API_SERVICES = {
  key: base64('/registry/apiregistration.k8s.io/'),
  range_end: base64('/registry/apiregistration.k8s.io0'),
};
/** etcd's own limit is 128 operations in a transaction. */
const BATCH = 100;
/** An API server that is busy removes the APIService of a CRD late. */
const SETTLED_MS = 60_000;

/** As etcd's JSON gateway has it; keys and values in base64. */
interface KeyValue {
  readonly key: string;
  readonly value: string;
}
type Operation = { requestDeleteRange: { key: string } } | { requestPut: { key: string; value: string } };

/** The content of an etcd at one time. */
export interface EtcdSnapshot {
  /** By key, both in base64. */
  readonly values: ReadonlyMap<string, string>;
  readonly apiServices: number;
}

/** @param url of an etcd without TLS */
export async function snapshotOf(url: string): Promise<EtcdSnapshot> {
  const [all, apiServices] = await Promise.all([range(url, ALL), range(url, API_SERVICES)]);
  return { values: new Map(all.map(({ key, value }) => [key, value])), apiServices: apiServices.length };
}

/**
 * Resets the content of an etcd to the snapshot: deletes added keys, and restores changed and removed keys. The API server
 * follows by its watches, as with any other change, so it also has the caches, roles and CRDs of the snapshot. Resolves when it serves no
 * other groups.
 *
 * @throws Error when it still serves others after a minute
 */
export async function resetTo(url: string, snapshot: EtcdSnapshot): Promise<void> {
  const operations = differences(await range(url, ALL), snapshot);
  for (let at = 0; at < operations.length; at += BATCH) {
    await call(url, '/v3/kv/txn', { success: operations.slice(at, at + BATCH) });
  }
  const deadline = performance.now() + SETTLED_MS;
  while ((await range(url, API_SERVICES)).length !== snapshot.apiServices) {
    if (performance.now() > deadline) throw new Error('the API server still serves groups of CRDs that are gone');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function differences(now: readonly KeyValue[], { values }: EtcdSnapshot): Operation[] {
  const present = new Map(now.map(({ key, value }) => [key, value]));
  const isOwn = (key: string): boolean =>
    OWN_KEYS.some((own) => (own.endsWith('/') ? text(key).startsWith(own) : text(key) === own));
  const added = [...present.keys()].filter((key) => !values.has(key) && !isOwn(key));
  const changed = [...values].filter(([key, value]) => present.get(key) !== value && !isOwn(key));
  return [
    ...added.map((key) => ({ requestDeleteRange: { key } })),
    ...changed.map(([key, value]) => ({ requestPut: { key, value } })),
  ];
}

async function range(url: string, keys: object): Promise<readonly KeyValue[]> {
  const { kvs = [] } = (await call(url, '/v3/kv/range', keys)) as { kvs?: KeyValue[] };
  return kvs;
}

async function call(url: string, path: string, body: object): Promise<unknown> {
  const answer = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
