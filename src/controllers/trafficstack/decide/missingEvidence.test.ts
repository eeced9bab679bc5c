import { expect, it } from 'vitest';
import type { ComponentState } from '../../../api/trafficstack/terms.ts';
import type { SeenEvent, StackPod } from '../model/observation.ts';
import { at, component, NOW, observed, pod } from '../testing/stacks.ts';
import { missingEvidenceOf } from './cause.ts';

const { workload } = component('db');
const DB = component('db', { workload: { ...workload, kind: 'StatefulSet' } });

it.each<[string, ComponentState, number, SeenEvent[] | undefined, boolean, number]>([
  ['later, if it has just begun', 'Progressing', 0, undefined, false, NOW + 3_000],
  ['now, if its pods are missing for 3 s', 'Progressing', -3, undefined, true, Infinity],
  ['now, if it has failed', 'Failed', 0, undefined, true, Infinity],
  ['again after 10 s', 'Degraded', -3, [], false, NOW + 10_000],
])('asks for the Events of a component: %s', (_, state, since, events, asks, evidenceAt) => {
  const db = { ...observed(DB, { available: 0 }), ...(events && { events }) };
  const { eventQueries, ...rest } = missingEvidenceOf([db], new Map([['db', { state, since: at(since) }]]), NOW);
  expect([eventQueries.has('db'), rest.evidenceAt]).toEqual([asks, evidenceAt]);
});

it.each<[string, number, StackPod[] | undefined, SeenEvent[] | undefined, [boolean, boolean, number]]>([
  ['neither, if it has just begun', 0, undefined, undefined, [false, false, NOW + 3_000]],
  ['its pods first', -3, undefined, undefined, [true, false, Infinity]],
  [
    'then Events, if none of its pods tells why',
    -3,
    [pod('a', { isRunning: true })],
    undefined,
    [false, true, Infinity],
  ],
  ['both again after 10 s', -3, [pod('a', { isRunning: true })], [], [false, false, NOW + 10_000]],
  [
    'its pods again after 10 s, if one tells why',
    -3,
    [pod('a', { waiting: { reason: 'ErrImagePull', message: '' } })],
    undefined,
    [false, false, NOW + 10_000],
  ],
])('asks for what is in no cache of a built-in component: %s', (_, since, pods, events, wanted) => {
  const uid = { metadata: { namespace: 'shop', uid: 'a' } };
  const db = {
    ...observed(
      DB,
      { available: 0 },
      pods?.map((each) => ({ ...each, ...uid })),
    ),
    ...{ arePodsRead: pods !== undefined, ...(events && { events }) },
  };
  const asking = missingEvidenceOf([db], new Map([['db', { state: 'Degraded', since: at(since) }]]), NOW);
  expect([asking.podQueries.has('db'), asking.eventQueries.has('db'), asking.evidenceAt]).toEqual(wanted);
});

it.each([undefined, false])('asks for none of a component that is ready, also of a built-in one: %s', (arePodsRead) => {
  const ready = { ...observed(DB, { available: 2 }), ...(arePodsRead !== undefined && { arePodsRead }) };
  const asking = missingEvidenceOf([ready], new Map([['db', { state: 'Ready', since: at(-60) }]]), NOW);
  expect(asking).toEqual({ podQueries: new Map(), eventQueries: new Map(), evidenceAt: Infinity });
});
