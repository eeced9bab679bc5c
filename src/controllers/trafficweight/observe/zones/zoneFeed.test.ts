import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../runtime/process/clock.ts';
import { createLogger } from '../../../../runtime/process/logger.ts';
import { zoneOf } from '../../../../weights/zone/recordSets.ts';
import type { ZoneRead } from '../../../../weights/zone/zoneReader.ts';
import { ZoneFeed } from './zoneFeed.ts';

const EMPTY = zoneOf('Z1', []);
const OTHER = zoneOf('Z1', [{ Name: 'web.example.org.', Type: 'A' }]);
const DENIED = 'Route 53 (hosted zone Z1) answered AccessDenied';
const LATE = 'Route 53 (hosted zone Z1) gave no complete answer within 120 s';

let clock: FakeClock;
/** What a read gives; undefined if it never ends. */
let has: ZoneRead | Error | undefined;
let isLeader: boolean;
let zones: ReadonlyMap<string, readonly string[]>;
let reads: number;
let [created, closed] = [0, 0];
let changes: string[];
let feed: ZoneFeed;
let isRunning: boolean;
const stop = new AbortController();

function read(): Promise<ZoneRead> {
  reads += 1;
  if (has === undefined) return new Promise(() => undefined);
  return has instanceof Error ? Promise.reject(has) : Promise.resolve(has);
}

beforeEach(() => {
  [clock, has, isLeader, zones] = [new FakeClock(), { zone: EMPTY, requests: 1 }, true, new Map([['Z1', ['main']]])];
  [reads, created, closed, changes, isRunning] = [0, 0, 0, [], false];
  feed = new ZoneFeed({
    ...{ clock, logger: createLogger('silent'), zones: () => zones, isLeader: () => isLeader },
    createReader: () => {
      created += 1;
      return Promise.resolve({ read, close: () => void (closed += 1) });
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
    zones = new Map([['Z1', ['main', 'second']]]);
    expect(feed.views(['Z1'])).toBeUndefined();
    await advance(59_000);
    expect([reads, changes]).toEqual([3, ['main', 'second']]);
    has = { zone: OTHER, requests: 1 };
    await advance(21_000);
    expect([feed.views(['Z1']), changes.length]).toEqual([[{ id: 'Z1', zone: OTHER }], 4]);
  });

  it('sends one request in 20 s, however many a read takes', async () => {
    has = { zone: EMPTY, requests: 34 };
    await advance(3_600_000);
    expect(reads * 34).toBeLessThanOrEqual(180 + 34);
    expect(reads).toBeGreaterThan(3);
  });

  it('keeps what was read last while the zone cannot be read, and tells that once', async () => {
    await advance(1_000);
    has = new Error(DENIED);
    await advance(3_600_000);
    expect(feed.views(['Z1'])).toEqual([{ id: 'Z1', zone: EMPTY, failure: DENIED }]);
    expect(changes).toHaveLength(2);
    has = { zone: EMPTY, requests: 1 };
    await advance(21_000);
    expect(feed.views(['Z1'])).toEqual([{ id: 'Z1', zone: EMPTY }]);
  });

  it('has a view without a zone if it never could be read, also if the read does not end', async () => {
    has = undefined;
    await advance(119_000);
    expect(feed.views(['Z1'])).toBeUndefined();
    await advance(2_000);
    expect(feed.views(['Z1'])).toEqual([{ id: 'Z1', failure: LATE }]);
  });

  it('knows no zone that nobody asks for any more, and has all views or none', async () => {
    await advance(1_000);
    expect(feed.views(['Z1', 'Z2'])).toBeUndefined();
    expect(feed.views([])).toEqual([]);
    zones = new Map();
    await advance(1_000);
    expect([feed.views(['Z1']), created, closed]).toEqual([undefined, 1, 1]);
  });

  it('creates no reader without a zone, and reads nothing as a standby', async () => {
    isLeader = false;
    await advance(60_000);
    expect([reads, created]).toEqual([0, 0]);
    isLeader = true;
    await advance(1_000);
    expect([reads, created]).toEqual([1, 1]);
  });
});
