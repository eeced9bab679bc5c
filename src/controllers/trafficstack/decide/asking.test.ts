import { expect, it } from 'vitest';
import type { ComponentState } from '../../../api/trafficstack/terms.ts';
import type { SeenEvent } from '../observe/observation.ts';
import { at, component, NOW, observed } from '../testing/stacks.ts';
import { askingOf } from './asking.ts';

const { workload } = component('db');
const DB = component('db', { workload: { ...workload, kind: 'StatefulSet' } });

it.each<[string, ComponentState, number, SeenEvent[] | undefined, boolean, number]>([
  ['later, if it has just begun', 'Progressing', 0, undefined, false, NOW + 3_000],
  ['now, if its pods are missing for 3 s', 'Progressing', -3, undefined, true, Infinity],
  ['now, if it has failed', 'Failed', 0, undefined, true, Infinity],
  ['again after 10 s', 'Degraded', -3, [], false, NOW + 10_000],
])('asks for the Events of a component: %s', (_, state, since, told, asks, askAt) => {
  const db = { ...observed(DB, { available: 0 }), ...(told && { told }) };
  const { questions, ...rest } = askingOf([db], new Map([['db', { state, since: at(since) }]]), NOW);
  expect([questions.has('db'), rest.askAt]).toEqual([asks, askAt]);
});

it('asks for none of a component that is ready', () => {
  const ready = observed(DB, { available: 2 });
  const asking = askingOf([ready], new Map([['db', { state: 'Ready', since: at(-60) }]]), NOW);
  expect(asking).toEqual({ questions: new Map(), askAt: Infinity });
});
