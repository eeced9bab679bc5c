import { readdirSync, readFileSync } from 'node:fs';

function cgroupOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch {
    return ''; // it has ended meanwhile
  }
}

/** Pids, as this machine counts them, of a container of the lab: its processes' cgroup is named by its id. */
export function containerPids(containerId: string): number[] {
  const id = containerId.replace(/^.*:\/\//, '');
  if (id.length < 32) throw new Error(`not a container id: "${containerId}"`);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && cgroupOf(name).includes(id))
    .map(Number);
}

/** SIGKILL to every process of a container, as the kernel would for want of memory. */
export function killContainer(node: string, containerId: string): Promise<void> {
  const pids = containerPids(containerId);
  if (pids.length === 0) throw new Error(`container ${containerId} on ${node} has no processes`);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  return Promise.resolve();
}
