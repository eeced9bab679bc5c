import { expect, it } from 'vitest';
import { failingAgents } from './failingAgents.ts';

const URL = 'https://a.test/';
const count = (...results: object[]): unknown =>
  Object.fromEntries(failingAgents(results.map((result) => ({ results: [{ URL, ...result }], assigned: [URL] }))));

it.each([
  ['no connection', { ConnectionResult: 0, HTTPCode: 0 }, 1],
  ['no connection, of an agent that sends no status', { ConnectionResult: 0 }, 1],
  ['a connection without a response', { ConnectionResult: 1, HTTPCode: 0 }, 1],
  ['an error of the client', { ConnectionResult: 1, HTTPCode: 404 }, 1],
  ['an error of the server', { ConnectionResult: 1, HTTPCode: 503 }, 1],
  ['the last status that is none', { ConnectionResult: 1, HTTPCode: 399 }, 0],
  ['success', { ConnectionResult: 1, HTTPCode: 200 }, 0],
  ['success, of an agent that sends no connection', { HTTPCode: 204 }, 0],
])('%s', (_what, result, failing) => {
  expect(count(result)).toEqual({ [URL]: failing });
});

it('a result that does not decide is no result: 0 would be a lie', () => {
  expect(count({}, { ConnectionResult: 1 })).toEqual({});
});

it('counts each agent once, and only for URLs that it was assigned', () => {
  const results = [{ ConnectionResult: 0 }, { HTTPCode: 200 }, { HTTPCode: 500 }];
  expect(count(...results)).toEqual({ [URL]: 2 });
  const failed = { URL, ConnectionResult: 0 };
  const agents = [
    { results: [failed, failed], assigned: [URL] },
    { results: [failed], assigned: ['https://b.test/'] },
  ];
  expect(failingAgents(agents)).toEqual(new Map([[URL, 1]]));
});
