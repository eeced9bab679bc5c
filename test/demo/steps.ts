/** A step of the demo failed. The message names the step and the reason. */
class StepError extends Error {
  constructor(step: string, cause: unknown) {
    super(`step "${step}" failed: ${reasonOf(cause)}`, { cause });
    this.name = 'StepError';
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const stderr = (cause as { stderr?: unknown }).stderr;
  return typeof stderr === 'string' && stderr.trim() !== '' ? `${cause.message}\n${stderr.trim()}` : cause.message;
}

const started = performance.now();

/** Seconds since the start of the demo, as printed before each line. */
function elapsed(): string {
  return `${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s`;
}

/** Prints a message with the elapsed time. */
export function say(text: string): void {
  console.log(`${elapsed()}  ${text}`);
}

/** Runs one step. @throws StepError */
export async function step<T>(name: string, run: () => Promise<T>): Promise<T> {
  say(name);
  try {
    return await run();
  } catch (error) {
    throw new StepError(name, error);
  }
}

/**
 * Calls `look` every second and shows the result, until `done` is true for it.
 * @throws Error after `timeoutMs`, naming what was awaited
 */
export async function watchUntil<T>(
  what: string,
  look: () => Promise<T>,
  show: (seen: T) => void,
  done: (seen: T) => boolean,
  timeoutMs = 180_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    show(seen);
    if (done(seen)) return seen;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs / 1000} s in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
