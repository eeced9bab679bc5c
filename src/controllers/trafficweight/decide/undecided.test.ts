import { describe, expect, it } from 'vitest';
import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { Condition } from '../../../runtime/controller/conditions.ts';
import { undecidedStatus } from './status.ts';

const NOW = '2026-01-01T00:00:00Z';

describe('if nothing could be decided', () => {
  const conditions = ['Ready', 'Applied', 'Observed', 'IngressesAccepted'].map((type): Condition => {
    return { type, status: 'True', reason: 'Test', message: '', lastTransitionTime: NOW };
  });
  const before: TrafficWeight = {
    metadata: { name: 'main', generation: 2 },
    spec: { clusterName: 'a', backend: { static: { weight: 40 } } },
    status: { desiredWeight: 40, currentWeight: 75, hosts: 1, conditions },
  };

  it.each([
    ['the weight that is asked for is known', 'NotRead', 60, { desiredWeight: 60, currentWeight: 75, hosts: 1 }],
    ['it is not', 'InvalidSpec', undefined, { currentWeight: 75, hosts: 1 }],
  ])('and %s, does not look as if it was in force', (_, reason, desiredWeight, wanted) => {
    const status = undecidedStatus(before, { reason, message: 'no rights' }, { desiredWeight, now: NOW });
    expect(status).toMatchObject({ ...wanted, observedGeneration: 2 });
    expect(status.desiredWeight).toBe(desiredWeight);
    expect(status.conditions?.map(({ type, status: is, reason: why }) => `${type} ${is} ${why}`)).toEqual([
      `Ready False ${reason}`,
      `Applied Unknown ${reason}`,
      `Observed Unknown ${reason}`,
      `IngressesAccepted Unknown ${reason}`,
    ]);
  });
});
