import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { TokenReviews, type AskReview, type ReviewResult } from './reviews.ts';
import { VALID } from './testing/reviewStatus.ts';

const REVIEW_MS = 10;
/** The pods that the forger claims: it knows every agent. */
const AGENTS = Array.from({ length: 50 }, (_, n) => `ns/agent-${n}`);
const FORGER = '192.0.2.66';

describe('TokenReviews under attack', () => {
  let clock: FakeClock;
  let reviews: TokenReviews;
  /** Tokens in the order in which their reviews began. */
  let asked: string[];

  beforeEach(() => {
    clock = new FakeClock();
    asked = [];
    const ask: AskReview = async (token) => {
      asked.push(token);
      await clock.sleep(REVIEW_MS);
      return token.startsWith('honest') ? { ...VALID } : { authenticated: false };
    };
    reviews = new TokenReviews({ audience: 'aud', ask, clock, logger: pino({ level: 'silent' }) });
  });

  const verify = (token: string, pod: string, source: string): Promise<ReviewResult> =>
    reviews.verify(token, { expiresAt: clock.now() / 1_000 + 3_600, pod, source });

  /** As many forged tokens as are given, each with the claim of the next agent. */
  function forge(count: number): Promise<ReviewResult>[] {
    return Array.from({ length: count }, (_, n) =>
      verify(`forged ${n} ${clock.now()}`, AGENTS[n % AGENTS.length]!, FORGER),
    );
  }

  it.each([
    ['before', true],
    ['after', false],
  ])('verifies every agent that reports %s a flood of forged tokens', async (_, isBefore) => {
    const honest = (): Promise<ReviewResult>[] =>
      AGENTS.map((pod, n) => verify(`honest ${pod}`, pod, `198.51.100.${n}`));
    const early = isBefore ? honest() : [];
    const forged = forge(5_000);
    const results = isBefore ? early : honest();
    await clock.advance(20 * REVIEW_MS);
    const known = await Promise.all(results.map((each) => Promise.race([each, Promise.resolve('waits')])));
    expect(known.filter((each) => typeof each === 'string')).toEqual([]);
    await clock.advance(60_000);
    expect((await Promise.all(forged)).every((each) => typeof each === 'string')).toBe(true);
  });

  it('verifies agents while a flood goes on, each within two turns', async () => {
    for (const [n, pod] of AGENTS.entries()) {
      void forge(300);
      const before = asked.length;
      const result = verify(`honest ${pod}`, pod, `198.51.100.${n}`);
      await clock.advance(3 * REVIEW_MS);
      expect(await Promise.race([result, Promise.resolve('waits')])).toMatchObject({ identity: {} });
      expect(asked.indexOf(`honest ${pod}`)).toBeLessThan(before + 60);
    }
  });

  it('verifies 19,000 agents in 10 s after a restart of the server, in a flood', async () => {
    const results: Promise<ReviewResult>[] = [];
    for (let second = 0; second < 10; second++) {
      void forge(1_000);
      for (let n = 0; n < 1_900; n++) {
        results.push(verify(`honest ${second} ${n}`, `ns/agent-${second}-${n}`, `198.51.${second}.${n}`));
      }
      await clock.advance(1_000);
    }
    expect((await Promise.all(results)).filter((each) => typeof each === 'string')).toEqual([]);
  });
});
