import { readFileSync } from 'node:fs';

/** The unit of /proc/stat, on every architecture that Node.js runs on. */
const TICKS_PER_SECOND = 100;

/**
 * CPU seconds that all processes of this machine have used since it started: user, nice, system, irq and softirq, the first line of
 * /proc/stat. Undefined where that file does not exist.
 */
export function machineCpuSeconds(path = '/proc/stat'): number | undefined {
  try {
    const [line = ''] = readFileSync(path, 'utf8').split('\n');
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/\s+/).slice(1).map(Number);
    return (user + nice + system + irq + softirq) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}
