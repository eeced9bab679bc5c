import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { KubernetesObject } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { kubeconfigPath } from '../lab/lab.ts';

/**
 * Reads from the API server of the lab without a process for each read: a kubectl takes 0.1 to 0.3 s of CPU time, and a story that waits for
 * something reads several times a second. The clean-up also deletes so. What a user types, the stories run with kubectl.
 */
interface Server {
  /** The content of the kubeconfig: a new lab has other certificates. */
  readonly kubeconfig: string;
  readonly url: string;
  readonly agent: Agent;
  /** The kinds that it served when they were last looked up; a story may install further ones. */
  kinds?: Promise<readonly Kind[]>;
}

/** A kind of objects, as the discovery of the API server has it. */
export interface Kind {
  /** Its `apiVersion`, such as apps/v1. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Its plural, with the group unless that is the core group: deployments.apps. */
  readonly name: string;
  /** In lower case: plural, singular, kind and short names. */
  readonly names: readonly string[];
  readonly isNamespaced: boolean;
  readonly verbs: readonly string[];
  /** The path of all its objects: /apis/apps/v1. */
  readonly path: string;
  readonly plural: string;
}

/** The part of the aggregated discovery (apidiscovery.k8s.io/v2) that is read. */
interface Discovery {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind: { readonly kind: string };
        readonly scope: 'Cluster' | 'Namespaced';
        readonly singularResource: string;
        readonly shortNames?: readonly string[];
        readonly verbs: readonly string[];
      }[];
    }[];
  }[];
}

/** Which objects of a kind. Without a name: a list. */
export interface Which {
  readonly name?: string;
  /** undefined: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
}

const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
/** Until the API server answers: ms. */
const TIMEOUT = 60_000;

let current: Server | undefined;

async function server(): Promise<Server> {
  const kubeconfig = await readFile(kubeconfigPath(), 'utf8');
  if (current?.kubeconfig === kubeconfig) return current;
  const { clusters, users } = parse(kubeconfig) as {
    clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
    users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
  };
  const [{ cluster }, { user }] = [clusters[0]!, users[0]!];
  const decode = (text: string): Buffer => Buffer.from(text, 'base64');
  const ca = decode(cluster['certificate-authority-data']);
  const [cert, key] = [user['client-certificate-data'], user['client-key-data']].map(decode);
  const agent = new Agent({ keepAlive: true, maxSockets: 8, ca, cert, key });
  current?.agent.destroy();
  return (current = { kubeconfig, url: cluster.server, agent });
}

/** @throws with status and body unless the status is one of success */
async function send(method: string, path: string, headers: Record<string, string>, body?: object): Promise<string> {
  const { url, agent } = await server();
  const data = body === undefined ? undefined : JSON.stringify(body);
  // Node.js names the length of the body of DELETE only with this header.
  const length = data === undefined ? {} : { 'content-length': Buffer.byteLength(data) };
  const sent = request(new URL(path, url), { method, agent, headers: { ...headers, ...length } });
  sent.setTimeout(TIMEOUT, () => sent.destroy(new Error(`no answer to ${method} ${path} within ${TIMEOUT} ms`)));
  sent.end(data);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const text = Buffer.concat((await answer.toArray()) as Buffer[]).toString();
  const { statusCode = 0 } = answer;
  if (statusCode < 200 || statusCode > 299) throw new Error(`${method} ${path}: status ${statusCode}: ${text}`);
  return text;
}

/** The answer to GET, as `kubectl get --raw` prints it. @throws with status and body unless it is a success */
export function getRaw(path: string, accept = 'application/json, */*'): Promise<string> {
  return send('GET', path, { accept });
}

/** The kinds that the API server serves now, each in the preferred version of its group. */
export async function servedKinds(): Promise<readonly Kind[]> {
  const lists = await Promise.all(['/api', '/apis'].map((path) => getRaw(path, DISCOVERY)));
  return lists.flatMap((text) => kindsOf(JSON.parse(text) as Discovery));
}

function kindsOf({ items = [] }: Discovery): Kind[] {
  return items.flatMap(({ metadata, versions = [] }) => {
    const group = metadata?.name ?? '';
    const seen = new Set<string>();
    return versions.flatMap(({ version, resources = [] }) =>
      resources.flatMap((each): Kind[] => {
        if (seen.has(each.resource)) return [];
        seen.add(each.resource);
        const apiVersion = group === '' ? version : `${group}/${version}`;
        const { resource: plural, responseKind, singularResource, shortNames = [], verbs, scope } = each;
        const names = [plural, singularResource, responseKind.kind.toLowerCase(), ...shortNames];
        return [
          {
            ...{ apiVersion, kind: responseKind.kind, plural, names, verbs, isNamespaced: scope === 'Namespaced' },
            name: group === '' ? plural : `${plural}.${group}`,
            path: group === '' ? `/api/${version}` : `/apis/${apiVersion}`,
          },
        ];
      }),
    );
  });
}

/** The kind with a name that kubectl understands: Deployment, deploy, pods, events.events.k8s.io. @throws if there is none */
export async function kindOf(name: string): Promise<Kind> {
  const wanted = name.toLowerCase();
  const find = (kinds: readonly Kind[]): Kind | undefined =>
    kinds.find((each) => each.name === wanted) ?? kinds.find(({ names }) => names.includes(wanted));
  const known = await server();
  known.kinds ??= servedKinds();
  const before = find(await known.kinds.catch(() => []));
  if (before !== undefined) return before;
  known.kinds = servedKinds();
  const found = find(await known.kinds);
  if (found === undefined) throw new Error(`the API server has no kind ${name}`);
  return found;
}

/** Reads an object. @throws if it does not exist */
export async function readObject<T extends KubernetesObject>(kind: Kind, name: string, namespace?: string): Promise<T> {
  return JSON.parse(await getRaw(`${collectionOf(kind, namespace)}/${name}`)) as T;
}

/** Reads all objects of a kind, each with its apiVersion and kind, which items of a list do not have. */
export async function readObjects<T extends KubernetesObject>(
  kind: Kind,
  { namespace, labelSelector }: Which = {},
): Promise<T[]> {
  const query = labelSelector === undefined ? '' : `?${new URLSearchParams({ labelSelector }).toString()}`;
  const { items } = JSON.parse(await getRaw(`${collectionOf(kind, namespace)}${query}`)) as { items: T[] };
  return items.map((item) => ({ apiVersion: kind.apiVersion, kind: kind.kind, ...item }));
}

/** Begins to delete an object, as `kubectl delete --wait=false`; an object that is gone is no error. @param seconds that a pod has to end */
export async function removeObject(kind: Kind, { metadata }: KubernetesObject, seconds: number): Promise<void> {
  const path = `${collectionOf(kind, metadata?.namespace)}/${metadata?.name}`;
  const body = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: 'Background',
    gracePeriodSeconds: seconds,
  };
  await send('DELETE', path, { 'content-type': 'application/json' }, body).catch(unlessGone);
}

/** Takes the finalizers of an object away, so that nothing holds up its end. */
export async function removeFinalizers(kind: Kind, { metadata }: KubernetesObject): Promise<void> {
  const path = `${collectionOf(kind, metadata?.namespace)}/${metadata?.name}`;
  const headers = { 'content-type': 'application/merge-patch+json' };
  await send('PATCH', path, headers, { metadata: { finalizers: null } }).catch(unlessGone);
}

function unlessGone(error: unknown): void {
  if (!String(error).includes(': status 404: ')) throw error;
}

function collectionOf({ path, plural, isNamespaced }: Kind, namespace?: string): string {
  return `${path}${isNamespaced && namespace !== undefined ? `/namespaces/${namespace}` : ''}/${plural}`;
}
