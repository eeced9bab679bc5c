import type { Failure } from '../../runtime/status/failure.ts';

/** What a backend knows of the cluster. Weights are integers from 0 to 255. */
export interface BackendWeights {
  /** What the cluster should have. */
  readonly desired: number;
  /** What the backend was last told to be in force; undefined if it has no valid value. */
  readonly current: number | undefined;
}

/** What decides, besides the backend, what is read. */
export interface ReadOptions {
  /** The weight that the cluster had last: an integer from 0 to 255; undefined if there is none. */
  readonly known: number | undefined;
  /** What a backend that has nothing begins with if no weight is known: an integer from 0 to 255. */
  readonly initialWeight: number;
  /** Whether the cluster may go to 0 although no other one has traffic. */
  readonly allowAllZero: boolean;
}

/** Where the weight of a cluster comes from. */
export interface WeightBackend {
  /** @throws BackendError */
  read(options: ReadOptions, signal: AbortSignal): Promise<BackendWeights>;
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
  /** The weight to go on with if none is known; undefined if there is none. */
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

/** The message for users of what somebody has thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}

/** Tells of an error with a message for users that the backend is unavailable. @throws BackendError */
export function throwUnavailable(error: unknown): never {
  throw new BackendError('BackendUnavailable', messageOf(error), { cause: error });
}
