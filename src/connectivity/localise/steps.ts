/**
 * A long computation in steps. It decides nothing between two of them, so whoever runs it may let others run meanwhile, or
 * take all steps at once. Each step is short beside 100 ms.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Takes all steps at once. */
export function finished<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
