import { beforeEach, expect, it } from 'vitest';
import type { TrafficWeight } from '../../api/trafficweight/trafficWeight.ts';
import type { Condition } from '../../runtime/controller/conditions.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { fixedWeight, type WeightObjects } from './weightObjects.ts';

const SPEC = { clusterName: 'a', backend: { static: { weight: 5 } } };
let lines: string[];
let objects: WeightObjects;
const weight = (): TrafficWeight => objects.statuses.newest('weights')!;

beforeEach(() => {
  lines = [];
  objects = fixedWeight('weights', SPEC, createLogger('info', { write: (line) => void lines.push(line) }));
});

it('is there from the start, under its name', () => {
  const seen: string[] = [];
  objects.subscribe(({ type, object }) => seen.push(`${type} ${object.metadata?.name}`));
  expect(seen).toEqual(['add weights']);
  expect(objects.lister.list()).toEqual([weight()]);
  expect([weight().spec, objects.lister.get('other')]).toEqual([{ ...SPEC, allowRemoval: 'Any' }, undefined]);
});

it('keeps its status, and tells whether it has changed', async () => {
  const status = { desiredWeight: 5 };
  expect(await objects.statuses.write(weight(), status)).toBe(true);
  expect(objects.lister.get('weights')?.status).toEqual(status);
  expect(await objects.statuses.write(weight(), { desiredWeight: 5 })).toBe(false);
});

it('logs its conditions when they change', async () => {
  const condition = (status: 'True' | 'False', reason: string, message: string): Condition => {
    return { type: 'Ready', status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' };
  };
  for (const one of [
    condition('False', 'NotObservedYet', '2 of 3'),
    condition('False', 'NotObservedYet', '1 of 3'),
    condition('True', 'InForce', 'The weight 5 is in force.'),
    condition('False', 'NotRead', 'no rights'),
  ]) {
    await objects.statuses.write(weight(), { conditions: [one] });
  }
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 'info', condition: 'Ready', status: 'False', reason: 'NotObservedYet', msg: '2 of 3' },
    { level: 'info', condition: 'Ready', status: 'True', reason: 'InForce', msg: 'The weight 5 is in force.' },
    { level: 'warn', condition: 'Ready', status: 'False', reason: 'NotRead', msg: 'no rights' },
  ]);
});
