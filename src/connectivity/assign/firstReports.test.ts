import { beforeEach, expect, it } from 'vitest';
import { FirstReports } from './firstReports.ts';

let reports: FirstReports;

beforeEach(() => {
  reports = new FirstReports();
});

const add = (node: string, peers: readonly string[], affected: readonly string[] = [], now = 0): string[] =>
  reports.add(node, 'Pod', peers, affected, now);

it('both agents of a link confirm it, whichever reports first', () => {
  expect(add('a', ['b', 'c'])).toEqual([]);
  expect(add('b', ['a'])).toEqual(['a']);
  expect(add('c', ['b', 'd'])).toEqual([]);
  expect(reports.add('c', 'Host', ['a'], [], 0)).toEqual([]);
});

it('an agent goes on to probe the links that do not work, until they are forgotten', () => {
  add('a', ['b', 'c'], ['b'], 1_000);
  expect([reports.affected('a', 'Pod'), reports.affected('a', 'Host'), reports.affected('b', 'Pod')]).toEqual([
    ['b'],
    [],
    [],
  ]);
  reports.forget(1_000);
  expect(reports.affected('a', 'Pod')).toEqual(['b']);
  reports.forget(1_001);
  expect(reports.affected('a', 'Pod')).toEqual([]);
  expect(add('b', ['a'])).toEqual([]);
});
