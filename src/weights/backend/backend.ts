import type { Failure } from '../../runtime/process/problem.ts';

/** The weights of the cluster in a backend: integers from 0 to 255. */
export interface BackendWeights {
  /** The weight that the cluster should have. */
  readonly desired: number;
  /** The weight that the backend records as active; undefined if it records no valid weight. */
  readonly current: number | undefined;
}

/** The state and settings of the cluster that a read depends on. */
export interface ReadOptions {
  /** The last weight of the cluster: an integer from 0 to 255; undefined if it is not known. */
  readonly known: number | undefined;
  /** The weight for an empty backend if `known` is undefined: an integer from 0 to 255. */
  readonly initialWeight: number;
  /** Whether the cluster may go to 0 although no other cluster has traffic. */
  readonly allowAllZero: boolean;
}

/** A source of the weight of a cluster. */
export interface WeightBackend {
  /** Reads the weights of the cluster. @throws BackendError */
  read(options: ReadOptions, signal: AbortSignal): Promise<BackendWeights>;
  /**
   * Records in the backend that a weight is active, unless the backend asks for a different weight by now. Absent if the
   * backend records no active weight.
   *
   * @returns whether the weight was recorded
   * @throws BackendError
   */
  acknowledge?(weight: number, signal: AbortSignal): Promise<boolean>;
  close(): void;
}

/** The backend cannot be used, or its weight is invalid. */
export class BackendError extends Error implements Failure {
  /** CamelCase. */
  readonly reason: 'BackendUnavailable' | 'InvalidWeight' | 'AllZero';
  /** The weight to continue with if no weight is known; undefined if the backend has none. */
  readonly held: number | undefined;

  constructor(
    reason: BackendError['reason'],
    message: string,
    options: ErrorOptions & { held?: number | undefined } = {},
  ) {
    super(message, options);
    this.name = 'BackendError';
    this.reason = reason;
    this.held = options.held;
  }
}

/** Returns the message of a thrown value, for users. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}

/** Throws BackendError BackendUnavailable with the message of the error. */
export function throwUnavailable(error: unknown): never {
  throw new BackendError('BackendUnavailable', messageOf(error), { cause: error });
}
