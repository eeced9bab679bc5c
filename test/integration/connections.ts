import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** State 01 of /proc/net/tcp. */
const ESTABLISHED = '01';

/** TCP connections from this process to a port of 127.0.0.1 (proc(5), /proc/net/tcp). */
export function connectionsTo(port: number): number {
  const own = ownSockets();
  const rows = readFileSync('/proc/self/net/tcp', 'utf8').trim().split('\n').slice(1);
  // The kernel returns its table in parts. Between two of them a row may move and appear again.
  const open = new Set<string>();
  for (const row of rows) {
    const [, , remote = '', state, , , , , , inode = ''] = row.trim().split(/\s+/);
    const isThere = Number.parseInt(remote.split(':')[1] ?? '', 16) === port;
    if (state === ESTABLISHED && isThere && own.has(inode)) open.add(inode);
  }
  return open.size;
}

/** Counts connections every 20 ms until it is stopped, and then returns the maximum. */
export function watchConnectionsTo(port: number): () => number {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, connectionsTo(port));
  }, 20);
  return () => {
    clearInterval(timer);
    return most;
  };
}

function ownSockets(): Set<string> {
  const inodes = new Set<string>();
  for (const fd of readdirSync('/proc/self/fd')) {
    try {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`)) ?? [];
      if (inode !== undefined) inodes.add(inode);
    } catch {
      // Closed after the directory was read.
    }
  }
  return inodes;
}
