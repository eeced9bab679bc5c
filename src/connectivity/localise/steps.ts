/**
 * A long computation in steps. Other code may run between two steps, or all steps may run at once: the result is the same.
 * Each step takes much less than 100 ms.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Takes all steps at once. */
export function finished<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
