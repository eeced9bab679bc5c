/**
 * The stages in the order of their start. Servers start first, so that probes get a response from the beginning. Caches
 * start next. The election and the controllers start when the caches are synced, so that an elected process can act at
 * once. Stages stop in reverse order: controllers drain while this process still leads and its caches are current, then
 * the process releases the Lease.
 */
export const STAGES = ['server', 'cache', 'election', 'work'] as const;
export type Stage = (typeof STAGES)[number];

/** A component that runs as long as the program. */
export interface Part {
  name: string;
  stage: Stage;
  /** Runs until `signal` is aborted. If it ends earlier or throws, the program stops. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the next stage may start, or when `signal` is aborted. If absent, the next stage starts at once. */
  whenReady?(signal: AbortSignal): Promise<void>;
  /** Why the part is not ready; undefined if it is ready. For `/readyz`. */
  notReady?(): string | undefined;
  /** Why the part is considered dead; undefined if it is alive. For `/healthz`. */
  stuck?(): string | undefined;
}
