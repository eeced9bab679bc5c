import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CGROUPS = '/sys/fs/cgroup';

function cgroupOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch {
    return ''; // it has ended meanwhile
  }
}

/** Pids, as this machine counts them, of a container of the lab: its processes' cgroup is named by its id. */
function containerPids(containerId: string): number[] {
  const id = containerId.replace(/^.*:\/\//, '');
  if (id.length < 32) throw new Error(`not a container id: "${containerId}"`);
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && cgroupOf(name).includes(id))
    .map(Number);
  if (pids.length === 0) throw new Error(`container ${containerId} has no processes`);
  return pids;
}

/** SIGSTOP to every process of a container: it hangs, with its connections open, until somebody kills it. */
export function freezeContainer(containerId: string): void {
  for (const pid of containerPids(containerId)) process.kill(pid, 'SIGSTOP');
}

/**
 * Takes up all the memory that a container may have. The kernel then kills its process, whose OOM score a kubelet has
 * set high, and after that what took the memory up, too.
 */
export async function exhaustMemory(containerId: string): Promise<void> {
  const [pid] = containerPids(containerId);
  const eat = ['-c', 'echo $$ >"$0/cgroup.procs" && exec tail /dev/zero', memoryCgroup(pid!)];
  const end = await run('sh', eat).catch((error: unknown) => error as { signal?: string; stderr: string });
  if (!('signal' in end) || end.signal !== 'SIGKILL') throw new Error(`memory was not exhausted: ${end.stderr}`);
}

/** The directory of a process's memory cgroup: with version 1 there is a tree for each resource, with version 2 one. */
function memoryCgroup(pid: number): string {
  const found = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(cgroupOf(String(pid)));
  if (found !== null) return `${CGROUPS}/memory${found[1]}`;
  return `${CGROUPS}${/^0::(.*)$/m.exec(cgroupOf(String(pid)))?.[1] ?? ''}`;
}
