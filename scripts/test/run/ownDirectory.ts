import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Makes a temporary folder whose name has the ID of this process. Removes folders of processes that have ended: a killed process leaves its
 * folder behind, which in the case of etcd has hundreds of megabytes.
 */
export async function ownDirectory(name: string, root = tmpdir()): Promise<string> {
  const left = (await readdir(root)).filter((each) => {
    const [, of, pid] = /^(.+)-(\d+)-[^-]+$/.exec(each) ?? [];
    return of === name && !isRunning(Number(pid));
  });
  // Another run may remove the same ones.
  await Promise.all(left.map((each) => rm(join(root, each), { recursive: true, force: true, maxRetries: 5 })));
  return mkdtemp(join(root, `${name}-${process.pid}-`));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process of another user may not be signalled, but it is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
