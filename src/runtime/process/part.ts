/**
 * When a part is started and stopped. Servers first, so that probes are answered from the beginning; then the caches;
 * when these are synced, what works from them, and the election, so that a process that is elected can act at once.
 * Stopped the other way round: what works is drained while this process still leads and its caches are kept, then the
 * lease is given up.
 */
export const STAGES = ['server', 'cache', 'election', 'work'] as const;
export type Stage = (typeof STAGES)[number];

/** One thing that runs as long as the program does. */
export interface Part {
  name: string;
  stage: Stage;
  /** Runs until `signal` is aborted. One that ends sooner, or throws, takes the program down. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the next stage may begin, or when `signal` is aborted; at once when absent. */
  whenReady?(signal: AbortSignal): Promise<void>;
  /** What it is not ready for yet. */
  notReady?(): string | undefined;
  /** Why it is thought to be dead. */
  stuck?(): string | undefined;
}
