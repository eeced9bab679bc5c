import { expect, it } from 'vitest';
import type { TrafficWeight, TrafficWeightSpec } from '../../../../api/trafficweight/trafficWeight.ts';
import { zonesOf } from './zonesOf.ts';

function weight(name: string, over: Partial<TrafficWeightSpec>, deletionTimestamp?: Date): TrafficWeight {
  const spec = { clusterName: 'a', backend: { static: { weight: 1 } }, ...over };
  return { metadata: { name, ...(deletionTimestamp !== undefined && { deletionTimestamp }) }, spec };
}

it('has the zones of all that are valid and stay', () => {
  const weights = [
    weight('one', { hostedZoneIDs: ['Z1', 'Z2'] }),
    weight('two', { hostedZoneIDs: ['Z2'] }),
    weight('none', {}),
    weight('invalid', { hostedZoneIDs: ['Z3'], clusterName: '' }),
    weight('leaves', { hostedZoneIDs: ['Z4'] }, new Date()),
  ];
  expect(Object.fromEntries(zonesOf(weights))).toEqual({ Z1: ['one'], Z2: ['one', 'two'] });
});
