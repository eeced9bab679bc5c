import { expect, it } from 'vitest';
import { commonUrls } from './commonUrls.ts';

/** The results of agents, each of these URLs. */
const common = (...agents: string[][]): string[] => [...commonUrls(agents.map((urls) => urls.map((URL) => ({ URL }))))];

it.each([
  ['the only agent', [['a']], ['a']],
  ['more than a quarter', [['a', 'b'], ['a'], ['a'], ['a', 'c'], ['a', 'b']], ['a', 'b']],
  ['a quarter', [['a', 'b'], ['a'], ['a'], ['a']], ['a']],
  ['agents with results only', [['a'], [], [], [], []], ['a']],
  ['each agent once', [['a', 'b', 'b', 'b'], ['a'], ['a'], ['a']], ['a']],
])('counts %s', (_what, agents, urls) => {
  expect(common(...agents)).toEqual(urls);
});
