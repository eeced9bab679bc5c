import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operatorMain } from './operatorMain.ts';
import { start, type RunningProcess } from './process.ts';

/** A process of this program. */
export interface Program {
  readonly pid: number;
  log(): string;
  /** Sends SIGTERM. */
  terminate(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

/**
 * Starts a sub-command of operatorMain.
 *
 * @param env in addition to this process's own
 */
export async function startProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Program & { running: RunningProcess }> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-program-'));
  const log = join(directory, 'log');
  const running = start(process.execPath, [operatorMain(), ...args], log, env);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    process.kill(running.pid, signal);
    await running.ended;
    await rm(directory, { recursive: true, force: true });
  };
  return {
    running,
    pid: running.pid,
    log: () => readFileSync(log, 'utf8'),
    terminate: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}
