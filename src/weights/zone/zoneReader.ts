import type { StatedSet } from './recordSets.ts';

/** Where a page of a zone begins; opaque. */
export type PageStart = Readonly<Record<string, string | undefined>>;

/** Some record sets of a zone. */
export interface ZonePage {
  readonly sets: readonly StatedSet[];
  /** Where the next page begins; undefined if this was the last one. */
  readonly next: PageStart | undefined;
}

/** Reads hosted zones, with one request for each page. */
export interface ZoneReader {
  /**
   * @param from undefined for the first page
   * @throws Error with a message for users
   */
  page(id: string, from: PageStart | undefined, signal: AbortSignal): Promise<ZonePage>;
  close(): void;
}
