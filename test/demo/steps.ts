/** A step of the demo failed; the message says which and why. */
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

/** Seconds since the demo began, as it stands before each line. */
function elapsed(): string {
  return `${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s`;
}

/** Tells what happens, with the time so far. */
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
 * Looks every second until `done` is true of what `look` sees, showing each sight.
 * @throws Error after `timeoutMs`, saying what was awaited
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
