import { pino } from 'pino';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { TokenReviews, type AskReview } from './reviews.ts';
import { VALID } from './testing/reviewStatus.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const IDENTITY = { identity: { namespace: 'ns', serviceAccount: 'sa', pod: 'a', podUid: 'u', node: undefined } };
const away: AskReview = () => Promise.reject(new Error('no connection'));

/** A result, or that it is still awaited. */
function atOnce<T>(result: Promise<T>): Promise<T | 'waits'> {
  return Promise.race([result, new Promise<'waits'>((resolve) => setTimeout(() => resolve('waits'), 100))]);
}

describe('TokenReviews', () => {
  let clock: FakeClock;
  let reviews: TokenReviews;
  const ask = vi.fn<AskReview>();

  beforeEach(() => {
    clock = new FakeClock();
    ask.mockReset().mockResolvedValue(VALID);
    reviews = new TokenReviews({ audience: 'aud', ask, clock, logger: pino({ level: 'silent' }) });
  });

  /** A verification of the token of this number. */
  const verify = (id = 1, lifeMs = 2 * HOUR_MS) =>
    reviews.verify(`token ${id}`, {
      expiresAt: (clock.now() + lifeMs) / 1_000,
      pod: `ns/${id}`,
      source: String(id),
    });

  it('asks once for five minutes', async () => {
    expect(await verify()).toEqual(IDENTITY);
    await clock.advance(5 * MINUTE_MS - 1);
    expect(await verify()).toEqual(IDENTITY);
    expect(ask).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    ask.mockResolvedValue({ authenticated: false });
    expect(await verify()).toBe('invalid');
  });

  it('uses no answer beyond the end of the token', async () => {
    await verify(1, 30_000);
    await clock.advance(30_000);
    ask.mockImplementation(away);
    expect(await verify()).toBe('unavailable');
  });

  it('keeps a negative answer for 10 s', async () => {
    ask.mockResolvedValue({ authenticated: false });
    for (const ms of [0, 9_999]) {
      await clock.advance(ms);
      expect(await verify()).toBe('invalid');
    }
    expect(ask).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    await verify();
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it('goes on with a verified token for an hour while the API server is away, and knows no other', async () => {
    await verify();
    ask.mockImplementation(away);
    await clock.advance(HOUR_MS - 1);
    expect(await verify()).toEqual(IDENTITY);
    expect(await verify(2)).toBe('unavailable');
    await clock.advance(1);
    expect(await verify()).toBe('unavailable');
  });

  it('does not let a verified token wait for an API server that hangs', async () => {
    await verify();
    await clock.advance(5 * MINUTE_MS);
    let answer: (() => void) | undefined;
    ask.mockImplementation(() => new Promise((resolve) => (answer = () => resolve({ authenticated: false }))));
    const late = verify();
    await clock.advance(500);
    expect(await atOnce(late)).toEqual(IDENTITY);
    answer?.();
    await vi.waitFor(async () => expect(await verify()).toBe('invalid'));
    expect([ask.mock.calls.length, clock.pending]).toEqual([2, 0]);
  });

  it('does not let every agent wait for a deadline while the API server is away', async () => {
    ask.mockImplementation(away);
    for (const id of [1, 2, 3]) expect(await verify(id)).toBe('unavailable');
    expect(ask).toHaveBeenCalledTimes(1);
    await clock.advance(2_000);
    ask.mockResolvedValue(VALID);
    expect(await verify(1)).toEqual(IDENTITY);
  });

  it('lets one token find out whether the API server is back, and no other wait for that', async () => {
    ask.mockImplementation(away);
    await verify(1);
    await clock.advance(2_000);
    const answer = Promise.withResolvers<typeof VALID>();
    ask.mockReset().mockReturnValue(answer.promise);
    const first = verify(2);
    expect(await atOnce(verify(3))).toBe('unavailable');
    answer.resolve(VALID);
    expect(await first).toEqual(IDENTITY);
    expect(await verify(3)).toEqual(IDENTITY);
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it('shares a review between concurrent requests', async () => {
    expect(await Promise.all([verify(), verify()])).toEqual([IDENTITY, IDENTITY]);
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it('runs 20 reviews at a time, lets 2,000 wait, and serves all of these', async () => {
    const answers: (() => void)[] = [];
    ask.mockImplementation(() => new Promise((resolve) => answers.push(() => resolve(VALID))));
    const all = Array.from({ length: 2_021 }, (_, id) => verify(id));
    expect(await all[2_020]).toBe('busy');
    expect(answers).toHaveLength(20);
    let answered = 0;
    while (answered < 2_020) {
      expect(answers.length - answered).toBeLessThanOrEqual(20);
      answers[answered++]!();
      await vi.waitFor(() => expect(answers.length).toBeGreaterThanOrEqual(Math.min(answered + 1, 2_020)));
    }
    expect(new Set(await Promise.all(all.slice(0, 2_020)))).toHaveLength(2_020);
  });

  it('keeps at most 25,000 answers', async () => {
    for (let id = 0; id < 25_010; id++) await verify(id);
    expect(reviews.size).toBe(25_000);
  });

  it('keeps at most 1,000 negative answers, for which no verified token is dropped', async () => {
    await verify(1);
    ask.mockResolvedValue({ authenticated: false });
    for (let id = 2; id < 1_100; id++) await verify(id);
    expect(reviews.size).toBe(1_001);
    expect(await verify(1)).toEqual(IDENTITY);
  });
});
