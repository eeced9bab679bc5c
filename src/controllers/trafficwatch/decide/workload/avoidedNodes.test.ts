import { describe, expect, it } from 'vitest';
import { AVOIDED_AT_MOST } from '../../../../api/trafficwatch/statusSchema.ts';
import { findCondition } from '../../../../runtime/controller/conditions.ts';
import type { Observation } from '../../observe/observation.ts';
import {
  aForeignWatch,
  anObservation,
  aWorkload,
  KEY,
  LABELLING,
  pass,
  type WatchChanges,
} from '../../testing/observations.ts';
import { eventsOf, statusOf } from '../../testing/settled.ts';
import { decidePlan } from '../decidePlan.ts';
import { namesBeforeLabels } from './podPlacement.ts';

const podSelector = { matchLabels: { app: 'db' } };
const AT_CREATION: WatchChanges = { placement: 'AtCreation' };

/** Two passes with these percents; the threshold is 10. A node without a figure keeps its label. */
function observed(
  percents: Record<string, number | undefined>,
  changes = AT_CREATION,
  nodes = Object.fromEntries(Object.keys(percents).map((name) => [name, {}])),
): Observation {
  const watch = aForeignWatch({ podSelector }, changes);
  return anObservation({
    watch,
    workload: aWorkload(watch, podSelector),
    nodes,
    passes: [pass(2, percents), pass(1, percents)],
  });
}

describe('status.avoidedNodes', () => {
  const percents = { n3: 50, n1: 50, n2: 1 };

  it.each<[string, Observation, string[] | undefined]>([
    ['names the unfit nodes in order', observed(percents), ['n1', 'n3']],
    ['is absent while no node is unfit', observed({ n1: 1 }), undefined],
    ['is absent with Required', observed(percents, { placement: 'Required' }), undefined],
    ['is absent with Preferred', observed(percents, {}), undefined],
    ['is absent with mode Observe', observed(percents, { ...AT_CREATION, mode: 'Observe' }), undefined],
    [
      'names a node without a figure by its label, which stays',
      observed(
        { n1: undefined, n2: undefined },
        { ...AT_CREATION, ...LABELLING },
        { n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } },
      ),
      ['n1'],
    ],
    [
      'stays while the TrafficWatch is stalled, as the labels do',
      observed(percents, { ...AT_CREATION, maxBandwidthPercent: 'much', status: { avoidedNodes: ['n2'] } }),
      ['n2'],
    ],
  ])('%s', (_what, o, names) => {
    expect(statusOf(o).avoidedNodes).toEqual(names);
  });

  const many = (count: number): Observation =>
    observed(Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${String(n).padStart(3, '0')}`, 50])));
  const conditionOf = (o: Observation) => findCondition(statusOf(o).conditions ?? [], 'InjectionUnavailable');

  it('names as many as fit, and a condition and an event say that there are more', () => {
    const o = many(AVOIDED_AT_MOST + 1);
    const { avoidedNodes = [], unfitNodes } = statusOf(o);
    expect([avoidedNodes.length, avoidedNodes.at(-1), unfitNodes]).toEqual([AVOIDED_AT_MOST, 'n099', 101]);
    expect(conditionOf(o)).toMatchObject({ status: 'True', reason: 'UnfitNodesOmitted' });
    expect(conditionOf(many(AVOIDED_AT_MOST))).toMatchObject({ status: 'False', reason: 'PolicyInstalled' });
    expect(eventsOf(o)).toContainEqual(expect.objectContaining({ type: 'Warning', reason: 'UnfitNodesOmitted' }));
    // The same message for any number, so that a changing number writes no status.
    expect(conditionOf(many(AVOIDED_AT_MOST + 9))).toEqual(conditionOf(o));
  });
});

describe('namesBeforeLabels', () => {
  const avoided = (...names: string[]) => ({ names, isComplete: true });
  const full = Array.from({ length: AVOIDED_AT_MOST }, (_, n) => `n${n}`).sort();

  it.each<[string, string[], string[], string[] | undefined]>([
    ['nothing turns unfit', ['a'], ['a'], undefined],
    ['a node only turns fit: its label goes first', ['a', 'b'], ['a'], undefined],
    ['a node turns unfit', ['b'], ['a', 'b'], ['a', 'b']],
    ['one turns unfit and one fit: both are named until the labels are written', ['b'], ['a'], ['a', 'b']],
    ['there is no room for one that turns fit', full, ['new'], [...full.slice(0, -1), 'new'].sort()],
  ])('%s', (_what, before, now, names) => {
    expect(namesBeforeLabels(before, avoided(...now))).toEqual(names);
  });
});

describe('a plan', () => {
  it('of another placement has no names', () => {
    expect(decidePlan(observed({ n1: 50 }, {})).avoided).toBeUndefined();
  });
});
