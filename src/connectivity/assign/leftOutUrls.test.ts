import { expect, it } from 'vitest';
import { MOST_URLS } from '../../api/connectivitycheck/schema.ts';
import type { Plane } from '../../api/connectivitycheck/terms.ts';
import { settingsOf, type CheckSettings } from './checkSettings.ts';
import { leftOutUrls } from './leftOutUrls.ts';

const NODES = ['a', 'b', 'c'].map((name) => ({ name, labels: { name } }));
const urls = (host: string, from = 0, to = MOST_URLS) =>
  Array.from({ length: to - from }, (_, n) => `http://${host}/${from + n}`);

/** A check of some nodes, or of all. */
function check(name: string, asked: string[], on: { nodes?: string[]; planes?: Plane[] } = {}): CheckSettings {
  const { nodes: values, planes } = on;
  const nodeSelector = { matchExpressions: values ? [{ key: 'name', operator: 'In' as const, values }] : [] };
  return settingsOf({ metadata: { name }, spec: { probes: { urls: asked }, nodeSelector, ...(planes && { planes }) } });
}
const leftOut = (...checks: CheckSettings[]) => leftOutUrls({ nodes: NODES, checks });

it('names the URLs beyond the 50 of a node, the limit, and the checks that ask for them', () => {
  const two = [check('one', urls('one')), check('two', urls('two'))];
  expect(leftOut(...two)).toBeUndefined();
  expect(leftOut(...two, check('three', urls('three')), check('none', urls('one', 3, 5)))).toEqual({
    ...{ limit: 50, count: 10, urls: urls('three', 10), checks: ['three'], nodes: 3 },
  });
});

it('are counted for each node and plane: checks of other nodes do not count there', () => {
  const [one, two] = [check('one', urls('one')), check('two', urls('two'))];
  expect(leftOut(one, two, check('b', urls('three'), { nodes: ['b'] }))).toMatchObject({ count: 10, nodes: 1 });
  expect(
    leftOut(one, check('b', urls('two'), { nodes: ['b'] }), check('c', urls('c'), { nodes: ['c'] })),
  ).toBeUndefined();
  const host = [check('two', urls('two'), { planes: ['Host'] }), check('three', urls('three'), { planes: ['Pod'] })];
  expect(leftOut(one, ...host)).toBeUndefined();
});

it('names at most 20 of them', () => {
  const checks = ['a', 'b', 'c', 'd', 'e'].map((name) => check(name, urls(name)));
  const found = leftOut(...checks.toReversed());
  expect(found).toMatchObject({ count: 50, checks: ['a', 'b', 'c'] });
  expect(found?.urls).toEqual([...urls('c', 10), ...urls('b', 0, 10)]);
});
