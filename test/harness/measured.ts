/** Prints a measurement for docs/reliability.md. */
export function measured(what: string): void {
  console.log(`measured: ${what}`);
}

/** Milliseconds as text in seconds: 3141 becomes '3.1 s'. */
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Polls until the result is true; an error counts as false.
 *
 * @param options.every milliseconds between two polls, default 50; use more if polling would affect the measurement
 * @returns the milliseconds since `since` (of performance.now(); default: now)
 * @throws `timeout` ms after `since`, with `what` and the last error in the message
 */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  { since = performance.now(), timeout = 90_000, every = 50 } = {},
): Promise<number> {
  const deadline = since + timeout;
  let last: unknown;
  for (;;) {
    const met = await Promise.resolve(condition()).catch((error: unknown) => void (last = error));
    if (met === true) return performance.now() - since;
    if (performance.now() > deadline) throw lateError(`waited ${seconds(timeout)} until ${what}`, last);
    await sleep(every);
  }
}

/** With the message of the last error: a summary of a run shows no causes. */
function lateError(message: string, cause: unknown): Error {
  return new Error(cause instanceof Error ? `${message}; ${cause.message}` : message, { cause });
}
