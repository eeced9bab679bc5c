import { pino } from 'pino';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { TokenReviews, type AskReview } from './reviews.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const VALID = {
  authenticated: true,
  audiences: ['aud'],
  user: {
    username: 'system:serviceaccount:ns:sa',
    extra: { 'authentication.kubernetes.io/pod-name': ['a'], 'authentication.kubernetes.io/pod-uid': ['u'] },
  },
};
const IDENTITY = { identity: { namespace: 'ns', serviceAccount: 'sa', pod: 'a', podUid: 'u', node: undefined } };
const away: AskReview = () => Promise.reject(new Error('no connection'));

describe('TokenReviews', () => {
  let clock: FakeClock;
  let reviews: TokenReviews;
  const ask = vi.fn<AskReview>();

  beforeEach(() => {
    clock = new FakeClock();
    ask.mockReset().mockResolvedValue(VALID);
    reviews = new TokenReviews({ audience: 'aud', ask, clock, logger: pino({ level: 'silent' }) });
  });

  const token = (id: number | string = 1, lifeMs = 2 * HOUR_MS, aud: unknown = ['aud']): string => {
    const part = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString('base64url');
    return `${part({ alg: 'RS256' })}.${part({ aud, id, exp: (clock.now() + lifeMs) / 1_000 })}.c2ln`;
  };

  it('asks once for five minutes', async () => {
    const one = token();
    expect(await reviews.verify(one)).toEqual(IDENTITY);
    await clock.advance(5 * MINUTE_MS - 1);
    expect(await reviews.verify(one)).toEqual(IDENTITY);
    expect(ask).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    ask.mockResolvedValue({ authenticated: false });
    expect(await reviews.verify(one)).toBe('invalid');
  });

  it('uses no answer beyond the end of the token', async () => {
    const one = token(1, 30_000);
    await reviews.verify(one);
    await clock.advance(30_000);
    ask.mockImplementation(away);
    expect(await reviews.verify(one)).toBe('unavailable');
  });

  it('keeps a negative answer for 10 s', async () => {
    ask.mockResolvedValue({ authenticated: false });
    const one = token();
    for (const ms of [0, 9_999]) {
      await clock.advance(ms);
      expect(await reviews.verify(one)).toBe('invalid');
    }
    expect(ask).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    await reviews.verify(one);
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it('goes on with a verified token for an hour while the API server is away, and knows no other', async () => {
    const one = token();
    await reviews.verify(one);
    ask.mockImplementation(away);
    await clock.advance(HOUR_MS - 1);
    expect(await reviews.verify(one)).toEqual(IDENTITY);
    expect(await reviews.verify(token(2))).toBe('unavailable');
    await clock.advance(1);
    expect(await reviews.verify(one)).toBe('unavailable');
  });

  it('does not let a verified token wait for an API server that hangs', async () => {
    const one = token();
    await reviews.verify(one);
    await clock.advance(5 * MINUTE_MS);
    let answer: (() => void) | undefined;
    ask.mockImplementation(() => new Promise((resolve) => (answer = () => resolve({ authenticated: false }))));
    const late = reviews.verify(one);
    await clock.advance(500);
    expect(await late).toEqual(IDENTITY);
    answer?.();
    await vi.waitFor(async () => expect(await reviews.verify(one)).toBe('invalid'));
    expect([ask.mock.calls.length, clock.pending]).toEqual([2, 0]);
  });

  it('does not let every agent wait for a deadline while the API server is away', async () => {
    ask.mockImplementation(away);
    for (const id of [1, 2, 3]) expect(await reviews.verify(token(id))).toBe('unavailable');
    expect(ask).toHaveBeenCalledTimes(1);
    await clock.advance(2_000);
    ask.mockResolvedValue(VALID);
    expect(await reviews.verify(token(1))).toEqual(IDENTITY);
  });

  it('lets one token find out whether the API server is back, and no other wait for that', async () => {
    ask.mockImplementation(away);
    await reviews.verify(token(1));
    await clock.advance(2_000);
    const answer = Promise.withResolvers<typeof VALID>();
    ask.mockReset().mockReturnValue(answer.promise);
    const first = reviews.verify(token(2));
    expect(await reviews.verify(token(3))).toBe('unavailable');
    answer.resolve(VALID);
    expect(await first).toEqual(IDENTITY);
    expect(await reviews.verify(token(3))).toEqual(IDENTITY);
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it('shares a review between concurrent requests', async () => {
    const one = token();
    expect(await Promise.all([reviews.verify(one), reviews.verify(one)])).toEqual([IDENTITY, IDENTITY]);
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['no token', ''],
    ['no JWT', 'abc'],
    ['a payload that is no JSON', 'a.b.c'],
    ['another audience', token.bind(undefined, 1, HOUR_MS, 'other')],
  ])('asks nothing for %s', async (_, given) => {
    expect(await reviews.verify(typeof given === 'string' ? given : given())).toBe('invalid');
    expect(ask).not.toHaveBeenCalled();
  });

  it('runs 20 reviews at a time, lets 2,000 wait, and serves all of these', async () => {
    const answers: (() => void)[] = [];
    ask.mockImplementation(() => new Promise((resolve) => answers.push(() => resolve(VALID))));
    const all = Array.from({ length: 2_021 }, (_, id) => reviews.verify(token(id)));
    expect(await all[2_020]).toBe('unavailable');
    expect(answers).toHaveLength(20);
    let answered = 0;
    while (answered < 2_020) {
      expect(answers.length - answered).toBeLessThanOrEqual(20);
      answers[answered++]!();
      await vi.waitFor(() => expect(answers.length).toBeGreaterThanOrEqual(Math.min(answered + 1, 2_020)), 1_000);
    }
    expect(new Set(await Promise.all(all.slice(0, 2_020)))).toHaveLength(2_020);
  });

  it('keeps at most 25,000 answers', async () => {
    for (let id = 0; id < 25_010; id++) await reviews.verify(token(id));
    expect(reviews.size).toBe(25_000);
  });

  it('keeps at most 1,000 negative answers, for which no verified token is dropped', async () => {
    await reviews.verify(token(1));
    ask.mockResolvedValue({ authenticated: false });
    for (let id = 2; id < 1_100; id++) await reviews.verify(token(id));
    expect(reviews.size).toBe(1_001);
    expect(await reviews.verify(token(1))).toEqual(IDENTITY);
  });
});
