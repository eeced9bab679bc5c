import { endGroup, ProcessGroups } from './processGroups.ts';

/** How a command ended. */
export interface Ended {
  /** 1 or more if it failed, 127 if it is not there. */
  readonly status: number;
  /** User and system time of the command and of all its descendants that were waited for; 0 if it was ended. */
  readonly cpuSeconds: number;
  /** The limit within which it did not end: it was ended. */
  readonly overdueAfterMs?: number;
}

/** Node.js does not report the CPU time of a child; bash does. Its report goes to descriptor 3, the command keeps its own output. */
const TIMED = `TIMEFORMAT='%U %S'; { time "$@" 2>&4 3>&- 4>&-; } 4>&2 2>&3`;

/**
 * Longer than any command takes, builds included: what hangs must not keep the others from being reported. The stories of e2e take 25 to 30
 * minutes together with other levels, on slow cores more than 40.
 */
const LIMIT_MS = 60 * 60_000;

/** Where a command runs, and how long: its output is a file, or the output of this process. */
export interface Where {
  readonly output: number | 'inherit';
  readonly env?: NodeJS.ProcessEnv;
  readonly limitMs?: number | undefined;
  /** From SIGTERM to SIGKILL, at the limit. */
  readonly graceMs?: number;
}

/** The commands that run. */
export const COMMANDS = new ProcessGroups();

/** Runs a command to its end and measures its CPU time. Never throws; never resolves once a signal ends this process. */
export function runTimed(command: readonly string[], where: Where): Promise<Ended> {
  const { output, env = process.env, limitMs = LIMIT_MS, graceMs } = where;
  return new Promise((resolve) => {
    const stdio = ['ignore', output, output, 'pipe'] as const;
    const child = COMMANDS.start('bash', ['-c', TIMED, 'bash', ...command], { stdio: [...stdio], env });
    if (child === undefined) return;
    let report = '';
    const limit = setTimeout(() => void endOverdue(child.pid), limitMs);
    const endOverdue = async (group: number | undefined): Promise<void> => {
      child.removeAllListeners('close');
      if (group !== undefined) await endGroup(group, 'SIGTERM', graceMs);
      resolve({ status: 1, cpuSeconds: 0, overdueAfterMs: limitMs });
    };
    child.stdio[3]?.on('data', (data: Buffer) => (report += data.toString()));
    child.on('error', (error) => {
      clearTimeout(limit);
      console.error(`${command.join(' ')}: ${error.message}`);
      resolve({ status: 127, cpuSeconds: 0 });
    });
    child.on('close', (status) => {
      clearTimeout(limit);
      resolve({ status: status ?? 1, cpuSeconds: secondsIn(report) });
    });
  });
}

/** @param report such as `1.234 0.567`, in some locales with a comma */
function secondsIn(report: string): number {
  const [user = 0, system = 0] = report.replaceAll(',', '.').trim().split(/\s+/).map(Number);
  return user + system || 0;
}
