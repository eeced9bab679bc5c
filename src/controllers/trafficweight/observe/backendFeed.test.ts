import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { BackendError, type BackendWeights } from '../../../weights/backend/backend.ts';
import { BackendFeed, type BackendRow } from './backendFeed.ts';

const DOWN = new BackendError('BackendUnavailable', 'DynamoDB did not answer: TimeoutError');
const REFUSED = new BackendError('BackendUnavailable', 'DynamoDB answered AccessDeniedException');
const failureOf = ({ reason, message }: BackendError) => ({ reason, message });

let clock: FakeClock;
/** The weights of the backend; an error if it cannot be read, undefined if it never answers. */
let has: BackendWeights | Error | undefined;
/** How an acknowledgement ends. */
let answer: boolean | Error;
let isLeader: boolean;
let rows: BackendRow<string>[];
let reads: string[];
let closed: string[];
let acknowledged: number[];
let changes: string[];
let feed: BackendFeed<string>;
let isRunning: boolean;
/** Whether it is not to be told what is in force. */
let isMute: boolean;

const row = (over: Partial<BackendRow<string>> = {}): BackendRow<string> => {
  return {
    id: 'r',
    options: 't',
    names: ['main'],
    lastWeight: 5,
    initialWeight: 0,
    allowAllZero: false,
    mayAcknowledge: true,
    ...over,
  };
};
const never = (): Promise<never> => new Promise(() => undefined);
const orFail = <T>(value: T | Error): Promise<T> =>
  value instanceof Error ? Promise.reject(value) : Promise.resolve(value);

function read(options: string, known: number | undefined): Promise<BackendWeights> {
  reads.push(`${options} ${known}`);
  return has === undefined && options === 't' ? never() : orFail(has ?? { desired: 1, current: 1 });
}

beforeEach(() => {
  [clock, has, answer, isLeader, rows] = [new FakeClock(), { desired: 40, current: 40 }, true, true, [row()]];
  [reads, closed, acknowledged, changes] = [[], [], [], []];
  feed = new BackendFeed({
    ...{ clock, logger: createLogger('silent'), rows: () => rows, isLeader: () => isLeader },
    create: (options) =>
      Promise.resolve({
        read: ({ known }) => read(options, known),
        ...(!isMute && {
          acknowledge: (weight: number) => {
            acknowledged.push(weight);
            return orFail(answer);
          },
        }),
        close: () => void closed.push(options),
      }),
    onChange: (name) => changes.push(name),
  });
  [isRunning, isMute] = [false, false];
});

/** Begins to run with the first call, after the test has set the scene. */
function advance(ms: number): Promise<void> {
  if (!isRunning) void feed.run(new AbortController().signal);
  isRunning = true;
  return clock.advance(ms);
}

describe('the feed of backends', () => {
  it('reads every 20 s, and tells changes only, to all TrafficWeights of the row', async () => {
    rows = [row({ names: ['main', 'second'] })];
    await advance(60_000);
    expect([reads.length, changes]).toEqual([4, ['main', 'second']]);
    has = { desired: 50, current: 40 };
    await advance(20_000);
    expect([feed.view('r'), changes.length]).toEqual([{ weights: { desired: 50, current: 40 } }, 4]);
  });

  it('keeps the last weight through an outage of an hour, which it tells once', async () => {
    await advance(1_000);
    has = DOWN;
    await advance(3_600_000);
    expect(feed.view('r')).toEqual({ weights: { desired: 40, current: 40 }, failure: failureOf(DOWN) });
    expect(changes.length).toBe(2);
    has = { desired: 40, current: 40 };
    await advance(20_000);
    expect([feed.view('r'), changes.length]).toEqual([{ weights: { desired: 40, current: 40 } }, 3]);
  });

  it('is read by the leader only, and forgotten by a former one', async () => {
    isLeader = false;
    await advance(30_000);
    expect(reads).toEqual([]);
    isLeader = true;
    await advance(1_000);
    expect([reads.length, feed.view('r')]).toEqual([1, { weights: { desired: 40, current: 40 } }]);
    isLeader = false;
    await advance(60_000);
    expect([reads.length, closed, feed.view('r')]).toEqual([1, ['t'], undefined]);
  });

  it('has the row of another table apart', async () => {
    await advance(1_000);
    [rows, has] = [[row({ id: 'other', options: 'o' })], DOWN];
    expect(feed.view('other')).toBeUndefined();
    await advance(1_000);
    expect([reads, closed]).toEqual([['t 5', 'o 5'], ['t']]);
    expect([feed.view('r'), feed.view('other')?.weights]).toEqual([undefined, undefined]);
  });

  it('goes on with the weight that a refusal holds, if none was read', async () => {
    has = new BackendError('AllZero', 'no other', { held: 40 });
    await advance(1_000);
    expect(feed.view('r')).toEqual({
      weights: { desired: 40, current: 40 },
      failure: { reason: 'AllZero', message: 'no other' },
    });
    has = { desired: 60, current: 40 };
    await advance(20_000);
    has = new BackendError('AllZero', 'no other', { held: 1 });
    await advance(20_000);
    expect(feed.view('r')?.weights).toEqual({ desired: 60, current: 40 });
  });

  it('has a lost row created with the weight that was read last', async () => {
    await advance(21_000);
    expect(reads).toEqual(['t 5', 't 40']);
  });

  it('gives up a read that does not end, and keeps no other row waiting', async () => {
    [has, rows] = [undefined, [row(), row({ id: 'other', options: 'o' })]];
    await advance(1_000);
    expect([feed.view('r'), feed.view('other')]).toEqual([undefined, { weights: { desired: 1, current: 1 } }]);
    await advance(15_000);
    const message = 'the backend gave no complete answer within 15 s';
    expect(feed.view('r')).toEqual({ failure: { reason: 'BackendUnavailable', message } });
    await advance(20_000);
    expect(reads.filter((each) => each.startsWith('t'))).toHaveLength(2);
  });
});

describe('a weight that is in force', () => {
  /** The row's view is in force in a TrafficWeight, or not. */
  const setInForce = (name = 'main', isInForce = true, view = feed.view('r')!, hasRecords = true): void =>
    feed.setInForce('r', name, { view, isInForce, hasRecords });

  beforeEach(async () => {
    has = { desired: 50, current: 40 };
    await advance(1_000);
  });

  it('is acknowledged at once, and once', async () => {
    expect(acknowledged).toEqual([]);
    setInForce();
    await advance(1_000);
    expect([acknowledged, feed.view('r')]).toEqual([[50], { weights: { desired: 50, current: 50 } }]);
    has = { desired: 50, current: 50 };
    setInForce();
    await advance(60_000);
    expect([acknowledged, changes.length]).toEqual([[50], 2]);
  });

  it.each([
    ['above 0 of no record is not', 50, false, []],
    ['above 0 is, if one TrafficWeight has records', 50, true, [50]],
    ['of 0 is, without records', 0, false, [0]],
  ])('%s acknowledged', async (_, desired, hasRecords, wanted) => {
    has = { desired, current: 40 };
    rows = [row({ names: ['main', 'second'] })];
    await advance(20_000);
    setInForce('main', true, feed.view('r'), false);
    setInForce('second', true, feed.view('r'), hasRecords);
    await advance(1_000);
    expect(acknowledged).toEqual(wanted);
  });

  it('is acknowledged also if each reconcile is followed by the next one', async () => {
    for (let n = 0; n < 10; n += 1) {
      setInForce('main', false);
      await advance(1_000);
      setInForce();
    }
    await advance(0);
    expect(acknowledged).toEqual([50]);
  });

  it('is acknowledged also if it is in force only after several reads', async () => {
    await advance(60_000);
    setInForce();
    await advance(1_000);
    expect(acknowledged).toEqual([50]);
  });

  it('is not acknowledged if the backend has another weight by now, or the same one again', async () => {
    const before = feed.view('r')!;
    has = { desired: 0, current: 40 };
    await advance(20_000);
    setInForce('main', true, before);
    await advance(1_000);
    has = { desired: 50, current: 0 };
    await advance(20_000);
    setInForce('main', true, before);
    await advance(1_000);
    expect(acknowledged).toEqual([]);
  });

  it('is not acknowledged if it no longer is in force, or the backend cannot be read', async () => {
    rows = [row({ names: ['main', 'second'] })];
    setInForce();
    setInForce('main', false);
    setInForce('second');
    await advance(1_000);
    has = DOWN;
    await advance(20_000);
    setInForce();
    await advance(1_000);
    expect(acknowledged).toEqual([]);
  });

  it('is acknowledged when it is in all TrafficWeights of the row', async () => {
    rows = [row({ names: ['main', 'second'] })];
    setInForce();
    await advance(1_000);
    expect(acknowledged).toEqual([]);
    setInForce('second');
    await advance(1_000);
    expect(acknowledged).toEqual([50]);
  });

  it('is no longer in force in a TrafficWeight that is deleted, and created again', async () => {
    rows = [row({ names: ['main', 'second'] })];
    setInForce('second');
    rows = [row()];
    await advance(1_000);
    rows = [row({ names: ['main', 'second'] })];
    setInForce();
    await advance(1_000);
    expect(acknowledged).toEqual([]);
  });

  it('is not acknowledged while a TrafficWeight of the cluster is invalid', async () => {
    rows = [row({ mayAcknowledge: false })];
    setInForce();
    await advance(1_000);
    expect(acknowledged).toEqual([]);
  });

  it('that the backend no longer accepts is read again, and not taken for acknowledged', async () => {
    answer = false;
    setInForce();
    await advance(4_000);
    expect([acknowledged, feed.view('r')]).toEqual([[50], { weights: { desired: 50, current: 40 } }]);
    has = { desired: 60, current: 40 };
    await advance(20_000);
    expect([acknowledged, feed.view('r')]).toEqual([[50], { weights: { desired: 60, current: 40 } }]);
  });

  it('that cannot be acknowledged is reported once, and tried again after each read until it is', async () => {
    answer = REFUSED;
    setInForce();
    await advance(1_000);
    const view = { weights: { desired: 50, current: 40 }, unacknowledged: failureOf(REFUSED) };
    expect([feed.view('r'), changes.length]).toEqual([view, 2]);
    setInForce();
    await advance(60_000);
    expect([feed.view('r'), changes.length, acknowledged.length]).toEqual([view, 2, 4]);
    answer = true;
    await advance(20_000);
    expect([feed.view('r'), changes.length]).toEqual([{ weights: { desired: 50, current: 50 } }, 3]);
  });

  it('that could not be acknowledged is forgotten when another weight is desired', async () => {
    answer = REFUSED;
    setInForce();
    await advance(1_000);
    has = { desired: 60, current: 40 };
    await advance(20_000);
    expect(feed.view('r')).toEqual({ weights: { desired: 60, current: 40 } });
  });
});

it('tells nothing to a backend that is not to be told', async () => {
  [has, isMute] = [{ desired: 50, current: undefined }, true];
  await advance(1_000);
  feed.setInForce('r', 'main', { view: feed.view('r')!, isInForce: true, hasRecords: true });
  await advance(60_000);
  expect([acknowledged, feed.view('r')]).toEqual([[], { weights: { desired: 50, current: undefined } }]);
});
