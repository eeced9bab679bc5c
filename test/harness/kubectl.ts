import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ControlPlane } from './controlPlane.ts';
import { execute } from './execute.ts';
import { binary } from '../lab/binaries.ts';

/**
 * Runs kubectl as the administrator and returns its standard output. Throws with its messages if it fails.
 *
 * @param input its standard input; an object as JSON
 */
export async function kubectl(
  { kubeconfig }: ControlPlane,
  args: readonly string[],
  input?: string | object,
): Promise<string> {
  const text = typeof input === 'object' ? JSON.stringify(input) : input;
  return (await execute(await binary('kubectl'), args, { input: text, env: { KUBECONFIG: kubeconfig } })).stdout;
}

/** The token that a pod of a ServiceAccount would have. */
export async function tokenOf(plane: ControlPlane, account: string, namespace: string): Promise<string> {
  return (await kubectl(plane, ['create', 'token', account, '-n', namespace])).trim();
}

/** A kubeconfig with that token: its path. */
export async function kubeconfigOf(plane: ControlPlane, account: string, namespace: string): Promise<string> {
  const token = await tokenOf(plane, account, namespace);
  const path = join(plane.directory, `${account}.kubeconfig`);
  const cluster = { server: plane.url, 'certificate-authority': join(plane.directory, 'ca.crt') };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

/** One field of an object, '' if there is none. */
export async function field(plane: ControlPlane, object: readonly string[], path: string): Promise<string> {
  return kubectl(plane, ['get', ...object, '--ignore-not-found', `-ojsonpath={${path}}`]);
}

/**
 * The name of every object of the cluster, as kind/namespace/name, but of those that come and go by themselves: events,
 * and the Leases and APIServices of the API server.
 */
export async function allObjects(plane: ControlPlane): Promise<string[]> {
  const kinds = await kubectl(plane, ['api-resources', '--verbs=list,delete', '-oname']);
  const wanted = kinds.split('\n').filter((kind) => kind !== '' && !/^(events|leases)(\.|$)|^apiservices\./.test(kind));
  const path = '{range .items[*]}{.kind}/{.metadata.namespace}/{.metadata.name}{"\\n"}{end}';
  const text = await kubectl(plane, ['get', wanted.join(','), '--all-namespaces', `-ojsonpath=${path}`]);
  return [...new Set(text.split('\n').filter(Boolean))].sort();
}
