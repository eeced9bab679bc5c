import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** State 01 of /proc/net/tcp. */
const ESTABLISHED = '01';

/** Inodes of a process's TCP connections to a port of 127.0.0.1 (proc(5)). A new connection has a new inode. */
export function socketsTo(port: number, pid: number): Set<string> {
  const open = new Set<string>();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) open.add(socketInode(`/proc/${pid}/fd/${fd}`));
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1);
  const inodes = rows.flatMap((row) => {
    const [, , remote = '', state, , , , , , inode = ''] = row.trim().split(/\s+/);
    const isMeant = state === ESTABLISHED && Number.parseInt(remote.split(':')[1] ?? '', 16) === port;
    return isMeant && open.has(inode) ? [inode] : [];
  });
  return new Set(inodes);
}

function socketInode(link: string): string {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(link))?.[1] ?? '';
  } catch {
    return ''; // closed since the directory was read
  }
}
