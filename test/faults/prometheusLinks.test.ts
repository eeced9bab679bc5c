import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenPromises, reportOf, startBadLinks, type BadLinks } from '../harness/badLinks.ts';
import { measured } from '../harness/measured.ts';

/** Slow links that break now and then, to the API server and to Prometheus; `make soak-links` does it for longer. */
const INTERVAL_MS = 5_000;
const LENGTH_MS = 60_000;
/** Ten scrapes, of which two suffice: on a busy machine some are late. */
const WINDOW_SECONDS = 10;

let links: BadLinks;
beforeAll(async () => {
  links = await startBadLinks(INTERVAL_MS, WINDOW_SECONDS);
});
afterAll(() => links.stop());

describe('links with half a second of latency and resets', () => {
  it('delay passes threefold at most, and no error lasts longer than a pass', async () => {
    const seen = await links.watch(LENGTH_MS);
    for (const line of reportOf(seen, INTERVAL_MS)) measured(line);
    expect(brokenPromises(seen, INTERVAL_MS)).toEqual([]);
  });
});
