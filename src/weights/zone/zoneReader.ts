import type { StatedSet } from './recordSets.ts';

/** The start of a page of a zone; opaque. */
export type PageStart = Readonly<Record<string, string | undefined>>;

/** Some record sets of a zone. */
export interface ZonePage {
  readonly sets: readonly StatedSet[];
  /** The start of the next page; undefined after the last page. */
  readonly next: PageStart | undefined;
}

/** Reads hosted zones, with one request for each page. */
export interface ZoneReader {
  /**
   * Reads one page.
   *
   * @param from undefined for the first page
   * @throws Error with a message for users
   */
  page(id: string, from: PageStart | undefined, signal: AbortSignal): Promise<ZonePage>;
  close(): void;
}
