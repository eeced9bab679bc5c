import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { binary } from '../lab/binaries.ts';
import { kubeconfigPath } from '../lab/lab.ts';

const run = promisify(execFile);

/** Runs a program of the lab against the lab's cluster. Resolves to its output; rejects with its error output. */
export async function inCluster(program: string, args: readonly string[], input?: string): Promise<string> {
  const options = { env: { ...process.env, KUBECONFIG: kubeconfigPath() }, maxBuffer: 64 * 1024 * 1024 };
  const running = run(await binary(program), [...args], options);
  running.child.stdin?.end(input);
  return (await running).stdout;
}

/** kubectl with these arguments. */
export function kubectl(...args: string[]): Promise<string> {
  return inCluster('kubectl', args);
}

/**
 * Applies objects, as a user applies a manifest. Not as a List, which no API server knows: kubectl then checks the objects itself, for which
 * it has to understand the schemas of all APIs. It does not understand those of OLM's package server.
 */
export async function applyObjects(objects: readonly unknown[]): Promise<void> {
  await inCluster('kubectl', ['apply', '-f', '-'], objects.map((object) => JSON.stringify(object)).join('\n'));
}

/** Reads one object, or a list of objects. Rejects if the object does not exist. */
export async function getObject<T>(...args: string[]): Promise<T> {
  return JSON.parse(await kubectl('get', ...args, '-o', 'json')) as T;
}
