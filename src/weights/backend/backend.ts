import type { Failure } from '../../runtime/status/failure.ts';

/** What a backend knows of the cluster. Weights are integers from 0 to 255. */
export interface BackendWeights {
  /** What the cluster should have. */
  readonly desired: number;
  /** What the backend was last told to be in force; undefined if it has no valid value. */
  readonly current: number | undefined;
}

/** Where the weight of a cluster comes from. */
export interface WeightBackend {
  /**
   * @param known the weight that was read last, or that the cluster should begin with: an integer from 0 to 255; undefined if
   *   there is none
   * @throws BackendError
   */
  read(known: number | undefined, signal: AbortSignal): Promise<BackendWeights>;
  /**
   * Tells that a weight is in force, unless another one is desired by now. Resolves to whether it was told. Absent if the
   * backend is not to be told.
   *
   * @throws BackendError
   */
  acknowledge?(weight: number, signal: AbortSignal): Promise<boolean>;
  close(): void;
}

/** A backend cannot be used, or what it has is invalid. */
export class BackendError extends Error implements Failure {
  /** CamelCase. */
  readonly reason: 'BackendUnavailable' | 'InvalidWeight' | 'AllZero';

  constructor(reason: BackendError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackendError';
    this.reason = reason;
  }
}
