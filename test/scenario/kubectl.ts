import { parseArgs } from 'node:util';
import { execute } from '../harness/execute.ts';
import { binary } from '../lab/binaries.ts';
import { kubeconfigPath } from '../lab/lab.ts';
import { kindOf, readObject, readObjects } from './api.ts';

/** The flags of `kubectl get` that getObject has. */
const OPTIONS = {
  namespace: { type: 'string', short: 'n' },
  selector: { type: 'string', short: 'l' },
  'all-namespaces': { type: 'boolean', short: 'A' },
} as const;

/** Runs a program of the lab against the lab's cluster. Resolves to its output; rejects with its error output. */
export async function inCluster(program: string, args: readonly string[], input?: string): Promise<string> {
  return (await execute(await binary(program), args, { input, env: { KUBECONFIG: kubeconfigPath() } })).stdout;
}

/** kubectl with these arguments. */
export function kubectl(...args: string[]): Promise<string> {
  return inCluster('kubectl', args);
}

/**
 * Applies objects, as a user applies a manifest. Not as a List, which no API server knows: kubectl then checks the objects itself, for which
 * it has to understand the schemas of all APIs. It does not understand the schemas of OLM's package server.
 */
export async function applyObjects(objects: readonly unknown[]): Promise<void> {
  await inCluster('kubectl', ['apply', '-f', '-'], objects.map((object) => JSON.stringify(object)).join('\n'));
}

/**
 * Reads one object, or a list of objects, with the arguments of `kubectl get`: kinds, and a name, a namespace, a selector of labels. Lists of
 * several kinds are one list. Without kubectl, since stories read several times a second, see api.ts.
 *
 * @throws if the object does not exist
 */
export async function getObject<T>(...args: string[]): Promise<T> {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const [kinds = '', name, ...others] = positionals;
  if (others.length > 0) throw new Error(`not supported: kubectl get ${args.join(' ')}`);
  const namespace = values['all-namespaces'] ? undefined : (values.namespace ?? 'default');
  const which = { namespace, labelSelector: values.selector };
  const found = await Promise.all(kinds.split(',').map(kindOf));
  if (name !== undefined) return (await readObject(found[0]!, name, namespace)) as T;
  return { items: (await Promise.all(found.map((kind) => readObjects(kind, which)))).flat() } as T;
}
