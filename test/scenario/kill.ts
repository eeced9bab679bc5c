import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { until } from '../harness/measured.ts';

const CGROUPS = '/sys/fs/cgroup';

function cgroupOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch {
    return ''; // it has ended meanwhile
  }
}

/** Pids of a container of the lab, in the pid namespace of this machine. The cgroup of its processes has the container's id in its name. */
function containerPids(containerId: string): number[] {
  const id = containerId.replace(/^.*:\/\//, '');
  if (id.length < 32) throw new Error(`not a container id: "${containerId}"`);
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && cgroupOf(name).includes(id))
    .map(Number);
  if (pids.length === 0) throw new Error(`container ${containerId} has no processes`);
  return pids;
}

/** Sends SIGSTOP to every process of a container: it hangs, with its connections open, until it is killed. */
export function freezeContainer(containerId: string): void {
  for (const pid of containerPids(containerId)) process.kill(pid, 'SIGSTOP');
}

/** Sends SIGKILL to every process of a container. The kubelet starts it again. */
export function killContainer(containerId: string): void {
  containerPids(containerId).forEach(end);
}

/**
 * Allocates all the memory that a container may have. The kernel then kills the container's process, because the kubelet
 * has set its OOM score high. It may also kill the allocating process: before the container's process has released its memory,
 * or with the whole cgroup (version 2). So the end of the allocating process proves nothing: this awaits the end of the container's process.
 */
export async function exhaustMemory(containerId: string): Promise<void> {
  const [pid] = containerPids(containerId);
  const eat = ['-c', 'echo $$ >"$0/cgroup.procs" && exec tail /dev/zero', memoryCgroup(pid!)];
  const eater = spawn('sh', eat, { stdio: 'ignore' });
  const ended = once(eater, 'exit');
  try {
    await until('the container ends', () => !exists(pid!) || hasEnded(eater));
  } finally {
    // At once: the next container shares the pod's limit with the allocated memory, and would be killed too.
    eater.kill('SIGKILL');
    await ended;
  }
  // A killed process exists until its parent has read how it ended.
  await until('the container ends after what took up its memory', () => !exists(pid!), { timeout: 10_000 });
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The directory of a process's memory cgroup: with version 1 there is a tree for each resource, with version 2 one. */
function memoryCgroup(pid: number): string {
  const found = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(cgroupOf(String(pid)));
  if (found !== null) return `${CGROUPS}/memory${found[1]}`;
  return `${CGROUPS}${/^0::(.*)$/m.exec(cgroupOf(String(pid)))?.[1] ?? ''}`;
}

/** How often it is looked whether a process is there again, ms. An agent reports half a second after its start at best. */
const KILL_EVERY = 100;

/**
 * Kills the processes of a pod whose command line has `command`, again and again: the kubelet starts the container again
 * at once, and then after 10, 20, 40 s.
 *
 * @param uid of the pod, which the cgroups of its processes have in their names
 * @returns a function that ends it
 */
export function keepKilling(uid: string, command: string): () => void {
  const kill = (): void => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      if (commandLine(pid).includes(command) && cgroupOf(pid).includes(uid)) end(Number(pid));
    }
  };
  kill();
  const timer = setInterval(kill, KILL_EVERY);
  return () => clearInterval(timer);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // it has ended meanwhile
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
