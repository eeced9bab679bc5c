import { beforeEach, describe, expect, it } from 'vitest';
import type { TrafficWeight, TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { zoneOf, type PageStart, type StatedSet, type ZonePage } from '../../../weights/zone/recordSets.ts';
import { ZoneFeed, zonesOf } from './zoneFeed.ts';

const SETS: StatedSet[] = [{ Name: 'web.example.org.', Type: 'A' }];
const DENIED = 'Route 53 (hosted zone Z1) answered AccessDenied';
const LATE = 'Route 53 (hosted zone Z1) gave no complete answer within 60 s';

let clock: FakeClock;
/** How many pages each zone has. */
let pages: number;
let sets: StatedSet[];
/** A page fails with it; undefined if none does. */
let failure: { page: number; error: Error } | undefined;
let neverEnds: boolean;
let isLeader: boolean;
let zones: ReadonlyMap<string, readonly string[]>;
let requests: { id: string; at: number; signal: AbortSignal }[];
let created: number;
let closed: number;
/** How often no reader can be created. */
let broken: number;
let changes: string[];
let feed: ZoneFeed;
let stop: AbortController;
let isRunning: boolean;

function page(id: string, from: PageStart | undefined, signal: AbortSignal): Promise<ZonePage> {
  requests.push({ id, at: clock.monotonic(), signal });
  const number = Number(from?.number ?? 1);
  if (neverEnds) return new Promise(() => undefined);
  if (failure?.page === number) return Promise.reject(failure.error);
  return Promise.resolve({ sets, next: number < pages ? { number: String(number + 1) } : undefined });
}

beforeEach(() => {
  [clock, pages, sets, failure, neverEnds, isLeader] = [new FakeClock(), 1, [], undefined, false, true];
  zones = new Map([['Z1', ['main']]]);
  [requests, created, closed, broken, changes, isRunning, stop] = [[], 0, 0, 0, [], false, new AbortController()];
  feed = new ZoneFeed({
    ...{ clock, logger: createLogger('silent'), zones: () => zones, isLeader: () => isLeader },
    createReader: () => {
      created += 1;
      return created <= broken
        ? Promise.reject(new Error('no module'))
        : Promise.resolve({ page, close: () => void (closed += 1) });
    },
    onChange: (name) => changes.push(name),
  });
});

/** Begins to run with the first call, after the test has set the scene. */
function advance(ms: number): Promise<void> {
  if (!isRunning) void feed.run(stop.signal);
  isRunning = true;
  return clock.advance(ms);
}

describe('the feed of hosted zones', () => {
  it('reads every 20 s, and tells changes only, to all TrafficWeights of the zone', async () => {
    zones = new Map([['Z1', ['main']]]);
    expect(feed.views(['Z1'])).toEqual([{ id: 'Z1' }]);
    await advance(59_000);
    expect([requests.length, changes]).toEqual([3, ['main']]);
    zones = new Map([['Z1', ['main', 'second']]]);
    sets = SETS;
    await advance(21_000);
    expect([feed.views(['Z1']), changes]).toMatchObject([
      [{ id: 'Z1', zone: zoneOf('Z1', SETS) }],
      ['main', 'main', 'second'],
    ]);
  });

  it('says when its last read began, also if it found nothing new', async () => {
    zones = new Map([['Z1', ['main']]]);
    const began = (): number | undefined => feed.views(['Z1'])[0]?.readFrom;
    await advance(1_000);
    const first = began() ?? NaN;
    await advance(20_000);
    expect([(began() ?? NaN) - first, changes]).toEqual([20_000, ['main']]);
  });

  it.each<[string, typeof failure]>([
    ['if all succeed', undefined],
    ['if the last page always fails', { page: 34, error: new Error(DENIED) }],
  ])('sends one request in 20 s in the long run, and one a second at most, %s', async (_, fails) => {
    [pages, failure] = [34, fails];
    await advance(3_600_000);
    expect(requests.length).toBeLessThanOrEqual(180 + 34);
    expect(requests.length).toBeGreaterThan(100);
    for (const [n, { at }] of requests.entries())
      if (n > 0) expect(at - requests[n - 1]!.at).toBeGreaterThanOrEqual(1_000);
  });

  it('reads one zone at a time', async () => {
    [pages, zones] = [3, new Map(['Z1', 'Z2'].map((id) => [id, ['main']]))];
    await advance(10_000);
    expect(requests.map(({ id }) => id)).toEqual(['Z1', 'Z1', 'Z1', 'Z2', 'Z2', 'Z2']);
  });

  it('keeps what was read last while the zone cannot be read, and reports it once', async () => {
    await advance(1_000);
    failure = { page: 1, error: new Error(DENIED) };
    await advance(3_600_000);
    const zone = zoneOf('Z1', []);
    expect(feed.views(['Z1'])).toMatchObject([
      { id: 'Z1', zone, failure: DENIED, lastRead: expect.any(String) as string },
    ]);
    expect(changes).toHaveLength(2);
    failure = undefined;
    await advance(21_000);
    expect(feed.views(['Z1'])).toEqual([{ id: 'Z1', zone, readFrom: expect.any(Number) as number }]);
  });

  it('gives a page up that does not end, and reads it once at a time', async () => {
    neverEnds = true;
    await advance(59_000);
    expect([feed.views(['Z1']), requests.length]).toEqual([[{ id: 'Z1' }], 1]);
    await advance(2_000);
    expect(feed.views(['Z1'])).toEqual([{ id: 'Z1', failure: LATE }]);
    expect(requests[0]?.signal.aborted).toBe(true);
  });

  it('gives up if a page leads to itself', async () => {
    pages = Infinity;
    feed = new ZoneFeed({
      ...{ clock, logger: createLogger('silent'), zones: () => zones, isLeader: () => true },
      createReader: () =>
        Promise.resolve({ page: () => Promise.resolve({ sets, next: { number: '2' } }), close: () => undefined }),
      onChange: () => undefined,
    });
    await advance(5_000);
    expect(feed.views(['Z1'])[0]?.failure).toBe('Route 53 (hosted zone Z1) repeats a page');
  });

  it('ends a read, and forgets everything, when nobody asks for the zone or another process leads', async () => {
    pages = 10;
    await advance(2_200);
    isLeader = false;
    await advance(20_000);
    expect([requests.length, feed.views(['Z1']), closed]).toEqual([3, [{ id: 'Z1' }], 1]);
    isLeader = true;
    await advance(1_000);
    expect(created).toBe(2);
  });

  it('ends a read when the process stops', async () => {
    pages = 10;
    await advance(2_500);
    stop.abort();
    await advance(20_000);
    expect([requests.length, changes, closed]).toEqual([3, [], 1]);
  });

  it('creates no reader without a zone, and again if it could not', async () => {
    [zones, broken] = [new Map(), 1];
    await advance(60_000);
    expect([requests.length, created]).toEqual([0, 0]);
    zones = new Map([['Z1', ['main']]]);
    await advance(1_000);
    expect(feed.views(['Z1'])).toEqual([{ id: 'Z1', failure: 'no module' }]);
    await advance(21_000);
    expect([requests.length, created]).toEqual([1, 2]);
  });
});

describe('a hosted zone', () => {
  function weight(name: string, over: Partial<TrafficWeightSpec>, deletionTimestamp?: Date): TrafficWeight {
    const spec = { clusterName: 'a', backend: { static: { weight: 1 } }, ...over };
    return { metadata: { name, ...(deletionTimestamp !== undefined && { deletionTimestamp }) }, spec };
  }

  it('has the zones of all that are valid and stay', () => {
    const weights = [
      weight('one', { hostedZoneIDs: ['Z1', 'Z2'] }),
      weight('two', { hostedZoneIDs: ['Z2'] }),
      weight('none', {}),
      weight('invalid', { hostedZoneIDs: ['Z3'], clusterName: '' }),
      weight('leaves', { hostedZoneIDs: ['Z4'] }, new Date()),
    ];
    expect(Object.fromEntries(zonesOf(weights))).toEqual({ Z1: ['one'], Z2: ['one', 'two'] });
  });
});
