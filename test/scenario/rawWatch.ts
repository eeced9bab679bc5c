import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { KubernetesObject } from '@kubernetes/client-node';
import { binary } from '../lab/binaries.ts';
import { kubeconfigPath } from '../lab/lab.ts';

/** The event of the API server for one version of an object. */
export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

/**
 * Watches objects, as the API server sends them: each version, in the order in which they were stored.
 *
 * @param path of the list, with `resourceVersion`
 * @param see gets each version
 * @param fail gets the reason when no further version will come
 * @returns a function that ends the watch
 */
export async function rawWatch<T extends KubernetesObject>(
  path: string,
  see: (event: WatchEvent<T>) => void,
  fail: (problem: string) => void,
): Promise<() => Promise<void>> {
  const env = { ...process.env, KUBECONFIG: kubeconfigPath() };
  const child = spawn(await binary('kubectl'), ['get', '--raw', path], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let isStopped = false;
  createInterface({ input: child.stdout }).on('line', (line) => {
    // The beginning of a line when the program ends also arrives as a line.
    if (isStopped) return;
    const event = JSON.parse(line) as { type: string; object: T };
    if (isChange(event)) see(event);
    else fail(line);
  });
  const ended = once(child, 'exit').then(() => fail(`the watch has ended: ${path}`));
  return () => {
    isStopped = true;
    child.kill();
    return ended;
  };
}

/** Others are errors, such as a version that is too old. */
function isChange<T>(event: { type: string; object: T }): event is WatchEvent<T> {
  return ['ADDED', 'MODIFIED', 'DELETED'].includes(event.type);
}
