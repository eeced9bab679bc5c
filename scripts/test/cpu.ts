import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** How a command ended. */
export interface Ended {
  /** 1 or more if it failed, 127 if it is not there. */
  readonly status: number;
  /** User and system time of the command and of all its descendants that were waited for. */
  readonly cpuSeconds: number;
}

/** Node.js does not report the CPU time of a child; bash does. Its report goes to descriptor 3, the command keeps its own output. */
const TIMED = `TIMEFORMAT='%U %S'; { time "$@" 2>&4 3>&- 4>&-; } 4>&2 2>&3`;

/** Where a command runs: its output is a file, or the output of this process. */
export interface Where {
  readonly output: number | 'inherit';
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a command to its end and measures its CPU time. Never throws. */
export function runTimed(command: readonly string[], { output, env = process.env }: Where): Promise<Ended> {
  return new Promise((resolve) => {
    let report = '';
    const child = spawn('bash', ['-c', TIMED, 'bash', ...command], { stdio: ['ignore', output, output, 'pipe'], env });
    child.stdio[3]?.on('data', (data: Buffer) => (report += data.toString()));
    child.on('error', (error) => {
      console.error(`${command.join(' ')}: ${error.message}`);
      resolve({ status: 127, cpuSeconds: 0 });
    });
    child.on('close', (status) => resolve({ status: status ?? 1, cpuSeconds: secondsIn(report) }));
  });
}

/** @param report such as `1.234 0.567`, in some locales with a comma */
function secondsIn(report: string): number {
  const [user = 0, system = 0] = report.replaceAll(',', '.').trim().split(/\s+/).map(Number);
  return user + system || 0;
}

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
