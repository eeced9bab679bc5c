import { expect, it } from 'vitest';
import { zoneOf } from '../../../weights/zone/recordSets.ts';
import { comparisonOf, knownZones } from './zones.ts';

const zone = zoneOf('Z1', []);
const [READ, UNREAD, PENDING] = [{ id: 'Z1', zone }, { id: 'Z2', failure: 'no' }, { id: 'Z3' }];

it.each([
  ['none', [], { zones: [], pending: [], isComplete: true }],
  ['one that was read', [READ], { zones: [zone], pending: [], isComplete: true }],
  ['one that can no longer be read', [{ ...READ, failure: 'no' }], { zones: [zone], pending: [], isComplete: true }],
  ['one that never could be read', [READ, UNREAD], { zones: [zone], pending: [], isComplete: false }],
  ['one that is being read for the first time', [READ, PENDING], { zones: [zone], pending: ['Z3'], isComplete: false }],
])('of %s', (_, views, wanted) => {
  expect(knownZones(views)).toEqual(wanted);
});

it('a host that differs again begins to differ again', () => {
  const differs = [{ host: 'a', how: 'no' }];
  const first = comparisonOf(differs, undefined, 1);
  expect(comparisonOf(differs, first.since, 2).since).toEqual(new Map([['a', 1]]));
  expect(comparisonOf(differs, comparisonOf([], first.since, 2).since, 3).since).toEqual(new Map([['a', 3]]));
});
