import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Both outputs of a program that ended with status 0. */
interface Outputs {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program to its end. Rejects with its outputs, as execFile does, unless it ends with status 0.
 *
 * @param options.input its standard input, empty by default
 * @param options.env in addition to the environment of this process
 */
export function execute(
  program: string,
  args: readonly string[],
  options: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Outputs> {
  const { input, env } = options;
  const running = promisify(execFile)(program, args, { env: { ...process.env, ...env }, maxBuffer: 1 << 26 });
  // A program may end before it has read its input: the write then fails with EPIPE, on a busy machine even the write of an empty string.
  // The status of the program says whether it needed the input.
  running.child.stdin?.on('error', () => undefined);
  running.child.stdin?.end(input);
  return running;
}

/** How a program ended, with both of its outputs. */
export interface Outcome {
  /** True if it ended with status 0. */
  readonly ok: boolean;
  readonly text: string;
}

/** The same for a program that may fail: never rejects. */
export function outcomeOf(...call: Parameters<typeof execute>): Promise<Outcome> {
  const outcome =
    (ok: boolean) =>
    ({ stdout, stderr }: Outputs): Outcome => ({ ok, text: stdout + stderr });
  return execute(...call).then(outcome(true), outcome(false));
}
