import { beforeEach, expect, it } from 'vitest';
import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { fixedWeight } from './fixedWeight.ts';
import type { WeightObjects } from './weightObjects.ts';

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
  expect([weight().spec, objects.lister.get('other')]).toEqual([SPEC, undefined]);
});

it('keeps its status, and tells whether it has changed', async () => {
  const status = { desiredWeight: 5 };
  expect(await objects.statuses.write(weight(), status)).toBe(true);
  expect(objects.lister.get('weights')?.status).toEqual(status);
  expect(await objects.statuses.write(weight(), { desiredWeight: 5 })).toBe(false);
});

it('logs what happens to it', () => {
  objects.events.event(weight(), 'Normal', 'InForce', 'Ready: The weight 5 is in force.');
  objects.events.event(weight(), 'Warning', 'NotRead', 'Ready: no rights');
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 'info', reason: 'InForce', msg: 'Ready: The weight 5 is in force.' },
    { level: 'warn', reason: 'NotRead', msg: 'Ready: no rights' },
  ]);
});
