import { readFileSync } from 'node:fs';

/** Unit of CPU times in proc(5). */
const TICKS_PER_SECOND = 100;

/** Resident memory of a process in bytes (proc(5), VmRSS). */
export function residentBytes(pid: number): number {
  return statusField(pid, 'VmRSS');
}

/** Peak resident memory (VmHWM). */
export function peakResidentBytes(pid: number): number {
  return statusField(pid, 'VmHWM');
}

/** Anonymous memory, which the kernel cannot drop and read again from a file (RssAnon). */
export function anonymousBytes(pid: number): number {
  return statusField(pid, 'RssAnon');
}

function statusField(pid: number, field: string): number {
  const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kib === undefined) throw new Error(`/proc/${pid}/status does not tell ${field}`);
  return Number(kib) * 1024;
}

/** CPU time of a process, user and system, in seconds (proc(5), /proc/pid/stat). */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may contain spaces. The fields after it are numbered from 3; utime is 14 and stime 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
