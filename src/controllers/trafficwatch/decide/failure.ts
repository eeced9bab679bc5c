/** A write that did not succeed; the rest of the plan was carried out all the same. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
}
