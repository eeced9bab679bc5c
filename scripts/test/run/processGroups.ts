import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { setTimeout as after } from 'node:timers/promises';

const GRACE_MS = 10_000;
/** Nothing survives SIGKILL, but the system takes its time. */
const KILLED_WITHIN_MS = 2_000;
const POLL_MS = 50;
/** The status of a process that a signal ended. */
const STATUS = 130;

/**
 * Commands, each in a process group of its own: a signal from the terminal reaches this process alone, which then ends the groups, that is the
 * commands and all that they started.
 */
export class ProcessGroups {
  readonly #ids = new Set<number>();
  #isEnding = false;

  /** Starts a command; undefined once a signal came. */
  start(program: string, args: readonly string[], options: SpawnOptions): ChildProcess | undefined {
    if (this.#isEnding) return undefined;
    const child = spawn(program, args, { ...options, detached: true });
    const { pid } = child;
    if (pid !== undefined) {
      this.#ids.add(pid);
      child.once('exit', () => !this.#isEnding && this.#ids.delete(pid));
    }
    return child;
  }

  /** At a signal, passes it on to the groups, waits until they have ended, and exits. A second signal kills them. */
  endOnSignals(atEnd: () => void = () => undefined): void {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        const first = this.#isEnding ? 'SIGKILL' : signal;
        this.#isEnding = true;
        void Promise.all([...this.#ids].map((id) => endGroup(id, first))).then(() => {
          atEnd();
          process.exit(STATUS);
        });
      });
    }
  }
}

/** Ends a process group: with the signal, and what has not ended after the grace by SIGKILL. */
export async function endGroup(id: number, signal: NodeJS.Signals, graceMs = GRACE_MS): Promise<void> {
  if (!(await endsBy(id, signal, graceMs))) await endsBy(id, 'SIGKILL', KILLED_WITHIN_MS);
}

async function endsBy(id: number, signal: NodeJS.Signals, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  send(id, signal);
  while (send(id, 0)) {
    if (performance.now() > end) return false;
    await after(POLL_MS);
  }
  return true;
}

/** @returns false if the group has no process */
function send(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-id, signal);
  } catch {
    return false;
  }
}
