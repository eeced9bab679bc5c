import type { Zone } from './recordSets.ts';

/** What one read of a hosted zone gave. */
export interface ZoneRead {
  readonly zone: Zone;
  /** Requests that it took. */
  readonly requests: number;
}

/** Reads hosted zones. */
export interface ZoneReader {
  /** @throws Error with a message for users */
  read(id: string, signal: AbortSignal): Promise<ZoneRead>;
  close(): void;
}
