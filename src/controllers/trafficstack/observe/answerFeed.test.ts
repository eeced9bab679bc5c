import { beforeEach, describe, expect, it, vi } from 'vitest';
import { PrometheusError } from '../../../prometheus/prometheusError.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { AnswerFeed } from './answerFeed.ts';

const UP = 'up == 1';
let clock: FakeClock;
let queries: Map<string, Set<string>>;
/** The values of Prometheus; an error if it does not answer, undefined if it never does. */
let values: number[] | Error | undefined;
/** How long it takes for an answer, ms. */
let delayMs: number;
let isLeader: boolean;
let asked: string[];
let changes: string[];
let feed: AnswerFeed;
let isRunning: boolean;

beforeEach(() => {
  [clock, queries, values, isLeader] = [new FakeClock(), new Map([[UP, new Set(['main', 'other'])]]), [1], true];
  [asked, changes, isRunning, delayMs] = [[], [], false, 0];
  feed = new AnswerFeed({
    ...{ clock, queries: () => queries, isLeader: () => isLeader, onChange: (name) => changes.push(name) },
    ask: async (query) => {
      asked.push(query);
      if (delayMs > 0) await clock.sleep(delayMs);
      if (values === undefined) return new Promise(() => undefined);
      if (values instanceof Error) throw values;
      return values;
    },
  });
});

/** Begins to run with the first call, after the test has set the scene. */
function advance(ms: number): Promise<void> {
  if (!isRunning) void feed.run(new AbortController().signal);
  isRunning = true;
  return clock.advance(ms);
}

describe('the feed of answers', () => {
  it('asks every 10 s, and tells changes only, to all stacks of a query', async () => {
    expect(feed.answer(UP)).toEqual({ is: 'Pending' });
    await advance(0);
    expect(feed.answer(UP)).toEqual({ is: 'True', sentAt: clock.monotonic() });
    expect(changes).toEqual(['main', 'other']);
    await advance(35_000);
    expect([asked.length, changes.length]).toEqual([4, 2]);
    values = [];
    await advance(10_000);
    expect(feed.answer(UP)).toMatchObject({ is: 'False', message: 'gives no series' });
    expect(changes).toEqual(['main', 'other', 'main', 'other']);
  });

  it.each([
    ['a setting keeps it from being sent', 'BadConfiguration', true],
    ['Prometheus does not answer', 'Unreachable', undefined],
  ] as const)('tells whether a query was sent: %s', async (_, reason, isNotSent) => {
    values = new PrometheusError(reason, 'why');
    await advance(0);
    expect(feed.answer(UP)).toEqual({ is: 'Unknown', message: 'why', sentAt: 0, ...(isNotSent && { isNotSent }) });
  });

  it.each<[string, number[], object]>([
    ['one that is 0', [0], { is: 'False', message: 'gives 0' }],
    ['some that are no number', [1, NaN, 2], { is: 'False', message: 'gives NaN for a series' }],
    ['others', [0.5, -1, Infinity], { is: 'True' }],
  ])('judges series: %s', async (_, given, answer) => {
    values = given;
    await advance(0);
    expect(feed.answer(UP)).toMatchObject(answer);
  });

  it('has no answer while Prometheus does not answer', async () => {
    await advance(0);
    values = new Error('Prometheus did not answer');
    await advance(11_000);
    expect(feed.answer(UP)).toMatchObject({ is: 'Unknown', message: 'Prometheus did not answer' });
  });

  it('forgets the answer to a query that nobody has, and of a leader that no longer leads', async () => {
    await advance(0);
    queries = new Map([['other', new Set(['main'])]]);
    await advance(1_000);
    expect([feed.answer(UP).is, feed.answer('other').is]).toEqual(['Pending', 'True']);
    isLeader = false;
    await advance(20_000);
    expect([feed.answer('other').is, asked]).toEqual(['Pending', [UP, 'other']]);
  });

  it('is not kept by one that hangs from asking the others, also those that come later', async () => {
    values = undefined;
    await advance(0);
    queries = new Map([UP, 'b', 'c'].map((query) => [query, new Set(['main'])]));
    await advance(1_000);
    expect(asked).toEqual([UP, 'b', 'c']);
  });

  it('takes a query without an answer for one that Prometheus does not answer', async () => {
    await advance(0);
    values = undefined;
    await advance(10_000);
    expect(feed.answer(UP)).toMatchObject({ is: 'True' });
    await advance(16_000);
    expect(feed.answer(UP)).toMatchObject({ is: 'Unknown', message: 'no complete answer within 15 s' });
  });

  it('tells a stack that has got the query while it was asked', async () => {
    values = undefined;
    await advance(0);
    queries = new Map([[UP, new Set(['late'])]]);
    await advance(16_000);
    expect(changes).toEqual(['late']);
  });

  it('asks again at once for somebody who needs a newer answer, and tells it also if it says the same', async () => {
    await advance(0);
    await advance(2_000);
    feed.requery(UP, clock.monotonic());
    await advance(500);
    expect(feed.answer(UP)).toEqual({ is: 'True', sentAt: clock.monotonic() });
    expect([asked.length, changes.length]).toEqual([2, 4]);
    // The next one is 10 s later, and no news.
    await advance(9_500);
    expect(asked.length).toBe(2);
    await advance(500);
    expect([asked.length, changes.length]).toEqual([3, 4]);
  });

  it('does not ask again for an answer that is new enough, nor a query that nobody has', async () => {
    await advance(0);
    feed.requery(UP, clock.monotonic());
    feed.requery('other', clock.monotonic());
    await advance(9_500);
    expect([asked, changes.length]).toEqual([[UP], 2]);
  });

  it('asks again after an answer that was on its way when a newer one was needed', async () => {
    values = undefined;
    await advance(0);
    feed.requery(UP, clock.monotonic() + 1);
    values = [1];
    await advance(15_500);
    expect(asked.length).toBe(2);
    expect(feed.answer(UP)).toMatchObject({ is: 'True' });
  });
});

describe('an answer that is too old', () => {
  /** More than are asked within 45 s if none is answered: eight at once, 15 s each. */
  const MANY = Array.from({ length: 40 }, (_, n) => `up == ${n}`);
  const of = (wanted: string) => MANY.filter((query) => feed.answer(query).is === wanted);
  const oneStackEach = () => new Map(MANY.map((query) => [query, new Set([query])]));
  const LATE = 'no answer within 45 s; the last error: no complete answer within 15 s';
  /** The first answers are to queries that were sent in the first ticks, and count for 45 s. */
  const TICKS_MS = 3_000;

  beforeEach(() => {
    queries = oneStackEach();
  });

  it('is Unknown after 45 s, although others keep its query from being asked, and is reported once', async () => {
    await advance(TICKS_MS);
    expect(of('True')).toEqual(MANY);
    [values, changes] = [undefined, []];
    await advance(45_000 - TICKS_MS - 500);
    expect(of('True').length).toBeGreaterThan(8);
    await advance(TICKS_MS + 500);
    expect(of('Unknown')).toEqual(MANY);
    expect(feed.answer(MANY.at(-1)!)).toMatchObject({ message: LATE });
    expect(changes.toSorted()).toEqual(MANY.toSorted());
  });

  it('is reported when it is answered again, also if it says the same', async () => {
    await advance(TICKS_MS);
    values = undefined;
    await advance(46_000);
    [values, changes] = [[1], []];
    await advance(60_000);
    expect(of('True')).toEqual(MANY);
    expect(new Set(changes)).toEqual(new Set(MANY));
  });

  it('is also one that never came, as after a restart', async () => {
    values = undefined;
    await advance(44_500);
    expect(of('Pending').length).toBeGreaterThan(8);
    await advance(500);
    expect(of('Unknown')).toEqual(MANY);
    // It says nothing about pods that became available meanwhile.
    expect(feed.answer(MANY.at(-1)!)).toEqual({ is: 'Unknown', message: LATE, sentAt: -Infinity });
  });

  it('is no answer of a Prometheus that is only slow', async () => {
    queries = new Map([[UP, new Set(['main'])]]);
    await advance(0);
    delayMs = 14_900;
    const seen = new Set<string>();
    for (let n = 0; n < 300; n++) {
      await advance(500);
      seen.add(feed.answer(UP).is);
    }
    expect([...seen]).toEqual(['True']);
    expect(changes).toEqual(['main']);
  });

  it('does not count before the feed goes on, as after a SIGSTOP of the operator', async () => {
    queries = new Map([[UP, new Set(['main'])]]);
    await advance(0);
    const now = clock.monotonic();
    vi.spyOn(clock, 'monotonic').mockReturnValue(now + 44_999);
    expect(feed.answer(UP)).toMatchObject({ is: 'True' });
    vi.spyOn(clock, 'monotonic').mockReturnValue(now + 45_000);
    expect(feed.answer(UP)).toEqual({ is: 'Unknown', message: 'no answer within 45 s', sentAt: now });
  });

  it('keeps the error of a query that is not answered', async () => {
    queries = new Map([[UP, new Set(['main'])]]);
    values = new Error('refused');
    await advance(0);
    values = undefined;
    const now = clock.monotonic();
    vi.spyOn(clock, 'monotonic').mockReturnValue(now + 100_000);
    expect(feed.answer(UP)).toMatchObject({ message: 'refused' });
  });
});
