import { beforeEach, describe, expect, it } from 'vitest';
import { ConnectivityReason } from '../../../api/connectivitycheck/reasons.ts';
import type { Evaluations } from '../../../connectivity/protocol/evaluation.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { evaluation } from '../testing/scenes.ts';
import { EvaluationFeed, type EvaluationFeedOptions } from './evaluationFeed.ts';
import { ServerError } from './serverClient.ts';

const CHECKS = ['a', 'b'].map((name) => ({ name, intervalMs: 15_000 }));

let clock: FakeClock;
/** The server's answer; undefined: it does not answer. */
let answer: Evaluations | undefined;
let isLeader: boolean;
let changes: number;
let asks: number;
let stop: AbortController;

beforeEach(() => {
  [clock, answer, isLeader, changes, asks] = [new FakeClock(), {}, true, 0, 0];
  stop = new AbortController();
});

function start(over: Partial<EvaluationFeedOptions> = {}): EvaluationFeed {
  const client = {
    ask: () => {
      asks += 1;
      const error = new ServerError(ConnectivityReason.ServerUnreachable, 'ECONNREFUSED');
      return answer === undefined ? Promise.reject(error) : Promise.resolve(answer);
    },
    close: () => Promise.resolve(),
  };
  const feed = new EvaluationFeed({
    ...{ client, clock, logger: createLogger('silent'), checks: () => CHECKS },
    isLeader: () => isLeader,
    onChange: () => (changes += 1),
    ...over,
  });
  void feed.run(stop.signal);
  return feed;
}

describe('the feed', () => {
  it('knows since when answers lack a check, one by one', async () => {
    answer = { a: evaluation() };
    const feed = start();
    await clock.advance(12_000);
    expect(feed.view('a')).toMatchObject({ hasAnswered: true, lackingMs: undefined, failure: undefined });
    expect(feed.view('b')).toMatchObject({ hasAnswered: true, evaluation: undefined, lackingMs: 12_000 });
    answer = { b: evaluation() };
    await clock.advance(4_000);
    expect([feed.view('a').lackingMs, feed.view('b').lackingMs]).toEqual([1_000, undefined]);
  });

  it('knows for how long the server is silent, from its last answer on', async () => {
    const feed = start();
    await clock.advance(4_000);
    answer = undefined;
    await clock.advance(7_000);
    // It answered at 0 s, and failed at 5 s and 10 s.
    expect(feed.view('a').failure).toMatchObject({ asks: 2, ageMs: 6_000, silentMs: 11_000 });
    answer = {};
    await clock.advance(5_000);
    expect(feed.view('a').failure).toBeUndefined();
  });

  it('counts from the first failed ask where there never was an answer', async () => {
    answer = undefined;
    const feed = start();
    await clock.advance(6_000);
    expect(feed.view('a')).toMatchObject({ hasAnswered: false, failure: { asks: 2, ageMs: 6_000, silentMs: 6_000 } });
  });

  it('asks nobody without a server, and says so', async () => {
    const feed = start({ client: undefined });
    await clock.advance(60_000);
    expect([asks, feed.isUp, feed.view('a').isDeployed]).toEqual([0, undefined, false]);
  });

  it.each([
    ['with a server', {}],
    ['without one', { client: undefined }],
  ])('calls onChange when it no longer leads, %s', async (_what, over) => {
    const feed = start(over);
    await clock.advance(1_000);
    const before = changes;
    isLeader = false;
    await clock.advance(5_000);
    expect(changes).toBeGreaterThan(before);
    expect(feed.isUp).toBeUndefined();
    const after = changes;
    await clock.advance(60_000);
    expect(changes).toBe(after);
  });
});
