import { expect, it } from 'vitest';
import type { TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import type { BackendView } from '../observe/observation.ts';
import { decideWeight, type Desired } from './desired.ts';

const STATIC: TrafficWeightSpec = { clusterName: 'a', backend: { static: { weight: 75 } } };
const TABLE: TrafficWeightSpec = { clusterName: 'a', backend: { dynamodb: {} } };
const READ: BackendView = { weights: { desired: 40, current: 40 } };
const FAILURE = { reason: 'BackendUnavailable', message: 'no' };
const NOT_READ = { reason: 'NotRead', message: 'no rights' };

it.each<[string, TrafficWeightSpec, BackendView | undefined, number | undefined, string | undefined, Desired]>([
  ['static', STATIC, undefined, 10, undefined, { kind: 'Decided', desiredWeight: 75 }],
  ['read', TABLE, READ, 10, undefined, { kind: 'Decided', desiredWeight: 40 }],
  ['read as 0', TABLE, { weights: { desired: 0, current: 1 } }, 10, undefined, { kind: 'Decided', desiredWeight: 0 }],
  ['down', TABLE, { ...READ, failure: FAILURE }, 10, undefined, { kind: 'Decided', desiredWeight: 40 }],
  ['down since a start', TABLE, { failure: FAILURE }, 10, undefined, { kind: 'Decided', desiredWeight: 10 }],
  [
    'down since ever',
    ...([TABLE, { failure: FAILURE }, undefined, undefined] as const),
    { kind: 'Undecided', why: FAILURE, desiredWeight: undefined },
  ],
  ['not read yet', TABLE, undefined, 10, undefined, { kind: 'Waiting' }],
  [
    'read, and something else cannot be',
    ...([TABLE, READ, 10, 'no rights'] as const),
    { kind: 'Undecided', why: NOT_READ, desiredWeight: 40 },
  ],
])('of a backend that is %s', (_, spec, backend, last, problem, wanted) => {
  const status = last === undefined ? {} : { desiredWeight: last };
  expect(decideWeight({ spec, weight: { spec, status }, backend, problem })).toEqual(wanted);
});
