import { describe, expect, it } from 'vitest';
import type { ConnectivityCheck } from '../../api/connectivitycheck/connectivityCheck.ts';
import { PLANES } from '../../api/connectivitycheck/terms.ts';
import { planAssignments, type AssignmentPlan } from './assignments.ts';
import { settingsOf } from './checkSettings.ts';
import { stepsOfAllPairs } from './offsets.ts';

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
