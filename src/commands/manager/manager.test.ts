import { expect, it } from 'vitest';
import { usageQuery } from './manager.ts';

const query = { windowSeconds: 20, scrapeIntervalSeconds: 5, matchers: [] };
const queryAt = (seconds: number) => ({ windowSeconds: 4 * seconds, scrapeIntervalSeconds: seconds, matchers: [] });
const otherQuery = { windowSeconds: 120, matchers: [] };

it('follows the Prometheus that runs, with one object for each of them', () => {
  const state: { url?: string; seconds?: number } = {};
  const next = usageQuery(
    { query, queryAt, otherQuery },
    { usedUrl: () => state.url, scrapeIntervalSeconds: () => state.seconds },
  );
  expect(next()).toBe(query);
  state.seconds = 5;
  expect(next()).toBe(query);
  state.seconds = 30;
  const slower = next();
  expect([slower, slower === next()]).toEqual([queryAt(30), true]);
  state.url = 'http://one';
  const one = next();
  expect([one, one === next()]).toEqual([otherQuery, true]);
  state.url = 'http://two';
  expect(next()).not.toBe(one);
  delete state.url;
  state.seconds = 5;
  expect(next()).toBe(query);
});

it('is as the flags say for a Prometheus that they name, also while the objects of an own one are left', () => {
  const ofFlags = { windowSeconds: 120, matchers: [] };
  const running = { usedUrl: () => undefined, scrapeIntervalSeconds: () => 5 };
  expect(usageQuery({ query: ofFlags, queryAt, otherQuery }, running)()).toBe(ofFlags);
});
