/** Prints a figure that docs/reliability.md may quote. */
export function measured(what: string): void {
  console.log(`measured: ${what}`);
}

/** Milliseconds as text in seconds: 3141 -> '3.1 s'. */
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Asks until the answer is true; an error is an answer of no.
 *
 * @param options.every milliseconds from one answer to the next question, 50 unless told: more where the question
 * would cost what is measured
 * @returns the milliseconds since `since` (of performance.now(), now unless told)
 * @throws after `timeout` ms, naming `what`
 */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  { since = performance.now(), timeout = 90_000, every = 50 } = {},
): Promise<number> {
  const deadline = performance.now() + timeout;
  let last: unknown;
  for (;;) {
    const met = await Promise.resolve(condition()).catch((error: unknown) => void (last = error));
    if (met === true) return performance.now() - since;
    if (performance.now() > deadline) throw new Error(`waited ${seconds(timeout)} until ${what}`, { cause: last });
    await sleep(every);
  }
}
