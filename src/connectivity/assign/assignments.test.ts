import { describe, expect, it } from 'vitest';
import type { ConnectivityCheck } from '../../api/connectivitycheck/connectivityCheck.ts';
import { MOST_URLS } from '../../api/connectivitycheck/schema.ts';
import { PLANES, type Plane } from '../../api/connectivitycheck/terms.ts';
import { leftOutUrls, planAssignments, type AssignmentPlan } from './assignments.ts';
import { settingsOf, type CheckSettings } from './checkSettings.ts';
import { stepsOfAllPairs } from './ring.ts';

const MOST = 50;
const STEP_MS = 120_000;
const NODES = Array.from({ length: 120 }, (_, n) => ({
  name: `n${String(n).padStart(3, '0')}`,
  labels: { all: 'yes', ...(n < 100 && { worker: 'yes' }), ...(n >= 90 && { edge: 'yes' }) },
}));

const checkOf = (name: string, label: string, peers: number): ConnectivityCheck => ({
  metadata: { name },
  spec: { peers, planes: ['Pod'], nodeSelector: { matchLabels: { [label]: 'yes' } } },
});

function planOf(checks: readonly ConnectivityCheck[], now = 0): AssignmentPlan {
  return planAssignments({ nodes: NODES, checks: checks.map(settingsOf), canAnswer: () => true, now });
}

const selected = (label: string): string[] => NODES.filter(({ labels }) => label in labels).map(({ name }) => name);

describe('several checks that ask for more than 50 peers of a node', () => {
  const CHECKS = [checkOf('all', 'all', 50), checkOf('workers', 'worker', 50), checkOf('edge', 'edge', 50)];

  it('have 50 at most, are each told of what they get, and are not told of it otherwise', () => {
    const plan = planOf(CHECKS);
    for (const { name } of NODES) expect(plan.of(name, 'Pod').peers.length).toBeLessThanOrEqual(MOST);
    expect(plan.reduced).toEqual([
      { checks: ['all'], plane: 'Pod', asked: 50, given: 17 },
      { checks: ['workers'], plane: 'Pod', asked: 50, given: 17 },
      { checks: ['edge'], plane: 'Pod', asked: 29, given: 16 },
    ]);
    expect(planOf([checkOf('all', 'all', 25), checkOf('workers', 'worker', 25)]).reduced).toEqual([]);
  });

  it.each([
    ['all', 'all', 17],
    ['workers', 'worker', 17],
    ['edge', 'edge', 16],
  ])('give each node of %s as many watchers, and cover all of its pairs in time', (_, label, peers) => {
    const names = selected(label);
    const seen = new Map(names.map((name) => [name, new Set<string>()]));
    for (let step = 0; step < stepsOfAllPairs(names.length, peers); step += 1) {
      const plan = planOf(CHECKS, step * STEP_MS);
      const watchers = new Map(names.map((name) => [name, 0]));
      for (const name of names) {
        for (const peer of plan.of(name, 'Pod').peers) {
          if (watchers.has(peer)) watchers.set(peer, watchers.get(peer)! + 1);
          seen.get(name)!.add(peer);
        }
      }
      expect(Math.min(...watchers.values())).toBeGreaterThanOrEqual(peers);
    }
    for (const [name, peers] of seen) expect(names.filter((other) => other !== name && !peers.has(other))).toEqual([]);
  });
});

it('a pair of nodes is checked if one check selects both of them', () => {
  const plan = planOf([checkOf('workers', 'worker', 10), checkOf('edge', 'edge', 10)]);
  expect(plan.isChecked('n000', 'n095', 'Pod')).toBe(true);
  expect(plan.isChecked('n095', 'n119', 'Pod')).toBe(true);
  expect(plan.isChecked('n000', 'n119', 'Pod')).toBe(false);
  expect(plan.isChecked('n000', 'n095', 'Host')).toBe(false);
  expect(plan.isChecked('n000', 'unknown', 'Pod')).toBe(false);
});

it.each([
  [3, 2],
  [11, 10],
  [12, 10],
  [100, 10],
])(
  'without a number of peers, each of %i nodes probes %i others on both planes, and as many probe it',
  (size, peers) => {
    const nodes = NODES.slice(0, size);
    const input = { nodes, checks: [settingsOf({ metadata: { name: 'default' } })], canAnswer: () => true, now: 0 };
    const plan = planAssignments(input);
    for (const plane of PLANES) {
      const all = nodes.map(({ name }) => plan.of(name, plane).peers);
      const watchers = nodes.map(({ name }) => all.filter((each) => each.includes(name)).length);
      expect([...new Set(all.map(({ length }) => length))]).toEqual([peers]);
      expect([...new Set(watchers)]).toEqual([peers]);
      nodes.forEach(({ name }, index) => expect(all[index]).not.toContain(name));
    }
  },
);

it('each node always has a watcher of its own zone and one of another, however nodes are named', () => {
  // In turns, as an autoscaler adds nodes: the neighbours by name are in other zones. With four nodes in each of 30 zones,
  // a watcher of the own zone is no chance.
  const nodes = NODES.map((node, n) => ({ ...node, zone: `zone-${n % 30}` }));
  const checks = [settingsOf({ metadata: { name: 'default' } })];
  for (let step = 0; step < stepsOfAllPairs(nodes.length, 10); step += 1) {
    const plan = planAssignments({ nodes, checks, canAnswer: () => true, now: step * STEP_MS });
    const watchers = new Map(nodes.map(({ name }) => [name, new Set<string>()]));
    for (const { name, zone } of nodes) {
      for (const peer of plan.of(name, 'Pod').peers) watchers.get(peer)!.add(zone);
    }
    for (const { name, zone } of nodes) {
      expect(watchers.get(name)).toContain(zone);
      expect(watchers.get(name)!.size).toBeGreaterThan(1);
    }
  }
});

describe('the URLs that are left out', () => {
  const NODES = ['a', 'b', 'c'].map((name) => ({ name, labels: { name } }));
  const urls = (host: string, from = 0, to = MOST_URLS) =>
    Array.from({ length: to - from }, (_, n) => `http://${host}/${from + n}`);

  /** A check of some nodes, or of all. */
  function check(name: string, asked: string[], on: { nodes?: string[]; planes?: Plane[] } = {}): CheckSettings {
    const { nodes: values, planes } = on;
    const nodeSelector = { matchExpressions: values ? [{ key: 'name', operator: 'In' as const, values }] : [] };
    return settingsOf({
      metadata: { name },
      spec: { probes: { urls: asked }, nodeSelector, ...(planes && { planes }) },
    });
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
});
