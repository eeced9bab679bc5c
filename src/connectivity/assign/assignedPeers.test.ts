import { beforeEach, expect, it } from 'vitest';
import { AssignedPeers } from './assignedPeers.ts';

const WINDOW_MS = 60_000;
let assigned: AssignedPeers;

beforeEach(() => {
  assigned = new AssignedPeers();
});

const note = (now: number, ...peers: string[]): void => assigned.note('n1', 'Pod', peers, now, WINDOW_MS);
/** Returns which of the nodes n1 was assigned. */
const known = (...nodes: string[]): string[] => nodes.filter((node) => assigned.of('n1', 'Pod')?.(node));

it('knows nothing of an agent before its first assignment', () => {
  expect(assigned.of('n1', 'Pod')).toBeUndefined();
  note(0);
  expect(assigned.of('n1', 'Pod')?.('n2')).toBe(false);
  expect(assigned.of('n1', 'Host')).toBeUndefined();
});

it('keeps peers for a window, and forgets them after two', () => {
  note(0, 'n2');
  note(59_999, 'n3');
  expect(known('n2', 'n3', 'n4')).toEqual(['n2', 'n3']);
  note(60_000, 'n4');
  expect(known('n2', 'n3', 'n4')).toEqual(['n2', 'n3', 'n4']);
  note(119_999, 'n5');
  expect(known('n2', 'n3', 'n4', 'n5')).toEqual(['n2', 'n3', 'n4', 'n5']);
  note(120_000, 'n6');
  expect(known('n2', 'n3', 'n4', 'n5', 'n6')).toEqual(['n4', 'n5', 'n6']);
});

it('knows since when an agent has had peers in every assignment', () => {
  const busySince = (): number | undefined => assigned.busySince('n1', 'Pod');
  expect(busySince()).toBeUndefined();
  note(1_000);
  expect(busySince()).toBeUndefined();
  note(2_000, 'n2');
  note(3_000, 'n3');
  note(70_000, 'n4');
  expect(busySince()).toBe(2_000);
  note(80_000);
  note(90_000, 'n2');
  expect(busySince()).toBe(90_000);
});

it('keeps 2,000 peers of an agent at most', () => {
  const names = Array.from({ length: 5_000 }, (_, n) => `peer${n}`);
  for (const name of names) note(0, name);
  expect(known(...names).length).toBeLessThanOrEqual(2_000);
  expect(known('peer4999')).toHaveLength(1);
});

it('forgets nodes that have left', () => {
  note(0, 'n2');
  assigned.keepOnly(new Set(['n2']));
  expect(assigned.of('n1', 'Pod')).toBeUndefined();
});
