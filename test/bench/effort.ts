/** The effort for each figure. */
export interface Effort {
  readonly repetitions: number;
  /** Passes per repetition, for measurements of passes. */
  readonly passes: number;
  /** Interval of passes. */
  readonly intervalMs: number;
}
