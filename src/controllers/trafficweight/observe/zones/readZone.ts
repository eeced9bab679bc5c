import { isDeepStrictEqual } from 'node:util';
import { LinkedAbort } from '../../../../runtime/async/deadline.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import { zoneOf, type StatedSet, type Zone } from '../../../../weights/zone/recordSets.ts';
import type { PageStart, ZonePage, ZoneReader } from '../../../../weights/zone/zoneReader.ts';

/** Pause between two pages, ms: external-dns needs the 5 requests a second of an account (DNSLimitations.html in the Route 53 developer guide). */
const PAUSE_MS = 1_000;
/** Limit for one page with all attempts, ms: the deadline of a client may not cover a body that never ends. */
const PAGE_MS = 60_000;

export interface ReadOptions {
  readonly reader: ZoneReader;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called before each request. */
  readonly onRequest: () => void;
}

/** Reads a zone page by page. @throws Error with a message for users; anything if `signal` is aborted */
export async function readZone(id: string, o: ReadOptions): Promise<Zone> {
  const sets: StatedSet[] = [];
  let page = await readPage(id, undefined, o);
  sets.push(...page.sets);
  while (page.next !== undefined) {
    await o.clock.sleep(PAUSE_MS, o.signal);
    o.signal.throwIfAborted();
    const from = page.next;
    page = await readPage(id, from, o);
    if (isDeepStrictEqual(page.next, from)) throw new Error(`Route 53 (hosted zone ${id}) repeats a page`);
    sets.push(...page.sets);
  }
  return zoneOf(id, sets);
}

async function readPage(
  id: string,
  from: PageStart | undefined,
  { reader, clock, signal, onRequest }: ReadOptions,
): Promise<ZonePage> {
  const link = new LinkedAbort([signal], { clock, timeoutMs: PAGE_MS });
  onRequest();
  try {
    return await link.race(reader.page(id, from, link.signal));
  } catch (error) {
    if (!link.expired) throw error;
    throw new Error(`Route 53 (hosted zone ${id}) gave no complete answer within ${PAGE_MS / 1000} s`, {
      cause: error,
    });
  } finally {
    link.release();
  }
}
