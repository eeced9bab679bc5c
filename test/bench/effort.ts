/** How much is done for a figure. */
export interface Effort {
  readonly repetitions: number;
  /** Passes that one repetition looks at, where it looks at passes. */
  readonly passes: number;
  /** From one pass to the next. */
  readonly intervalMs: number;
}
