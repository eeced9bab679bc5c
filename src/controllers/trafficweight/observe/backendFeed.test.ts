import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { BackendError, type BackendWeights } from '../../../weights/backend/backend.ts';
import { BackendFeed } from './backendFeed.ts';

let clock: FakeClock;
/** What the backend has; an error if it cannot be read. */
let has: BackendWeights | Error;
let isLeader: boolean;
let wanted: { name: string; options: string }[];
let reads: string[];
let closed: string[];
let acknowledged: number[];
let changes: string[];
let feed: BackendFeed<string>;

const DOWN = new BackendError('BackendUnavailable', 'DynamoDB did not answer: TimeoutError');

beforeEach(() => {
  [clock, has, isLeader, wanted] = [
    new FakeClock(),
    { desired: 40, current: 40 },
    true,
    [{ name: 'main', options: 't' }],
  ];
  [reads, closed, acknowledged, changes] = [[], [], [], []];
  const orFail = <T>(value: T): Promise<T> => (has instanceof Error ? Promise.reject(has) : Promise.resolve(value));
  feed = new BackendFeed({
    ...{ clock, logger: createLogger('silent'), backends: () => wanted, isLeader: () => isLeader },
    create: (options) =>
      Promise.resolve({
        read: () => {
          reads.push(options);
          return orFail(has as BackendWeights);
        },
        acknowledge: (weight) => orFail(void acknowledged.push(weight)),
        close: () => void closed.push(options),
      }),
    onChange: (name) => changes.push(name),
  });
  void feed.run(new AbortController().signal);
});

describe('the feed of backends', () => {
  it('reads every 20 s, and tells changes only', async () => {
    await clock.advance(60_000);
    expect([reads.length, changes]).toEqual([4, ['main']]);
    has = { desired: 50, current: 40 };
    await clock.advance(20_000);
    expect([feed.view('main'), changes.length]).toEqual([{ weights: { desired: 50, current: 40 } }, 2]);
  });

  it('keeps the last weight through an outage of an hour, which it tells once', async () => {
    await clock.advance(1_000);
    has = DOWN;
    await clock.advance(3_600_000);
    const failure = { reason: 'BackendUnavailable', message: DOWN.message };
    expect(feed.view('main')).toEqual({ weights: { desired: 40, current: 40 }, failure });
    expect(changes.length).toBe(2);
    has = { desired: 40, current: 40 };
    await clock.advance(20_000);
    expect([feed.view('main'), changes.length]).toEqual([{ weights: { desired: 40, current: 40 } }, 3]);
  });

  it('is read by the leader only, and forgotten by a former one', async () => {
    isLeader = false;
    await clock.advance(30_000);
    expect(reads.length).toBeLessThanOrEqual(1);
    const before = reads.length;
    await clock.advance(60_000);
    expect([reads.length, feed.view('main')]).toEqual([before, undefined]);
  });

  it('forgets what another table had', async () => {
    await clock.advance(1_000);
    [wanted, has] = [[{ name: 'main', options: 'other' }], DOWN];
    await clock.advance(1_000);
    expect([reads, closed]).toEqual([['t', 'other'], ['t']]);
    expect(feed.view('main')?.weights).toBeUndefined();
  });

  it('acknowledges a weight, and shows a failure until the next read', async () => {
    await clock.advance(1_000);
    await feed.acknowledge('main', 45);
    expect([acknowledged, feed.view('main')?.weights?.current]).toEqual([[45], 45]);
    has = DOWN;
    await feed.acknowledge('main', 50);
    expect(feed.view('main')).toMatchObject({ weights: { current: 45 }, failure: { reason: 'BackendUnavailable' } });
    has = { desired: 40, current: 45 };
    await clock.advance(20_000);
    expect(feed.view('main')).toEqual({ weights: { desired: 40, current: 45 } });
  });
});
