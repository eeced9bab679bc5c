import { readFileSync } from 'node:fs';

/** What proc(5) counts CPU time in. */
const TICKS_PER_SECOND = 100;

/** Memory of a process that is in RAM, bytes (proc(5), VmRSS). */
export function residentBytes(pid: number): number {
  return statusField(pid, 'VmRSS');
}

/** The most it ever was (VmHWM). */
export function peakResidentBytes(pid: number): number {
  return statusField(pid, 'VmHWM');
}

/** What of it the kernel cannot drop and read again from a file (RssAnon). */
export function anonymousBytes(pid: number): number {
  return statusField(pid, 'RssAnon');
}

function statusField(pid: number, field: string): number {
  const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kib === undefined) throw new Error(`/proc/${pid}/status does not tell ${field}`);
  return Number(kib) * 1024;
}

/** CPU time that a process has used, user and system, seconds (proc(5), /proc/pid/stat). */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may hold spaces; the fields after it are numbered from 3 on, utime is 14 and stime 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
