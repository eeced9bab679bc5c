import { describe, expect, it } from 'vitest';
import type { TrafficWatchSpec } from '../../../../api/trafficwatch/schema.ts';
import { aForeignWatch, aWatch, NOW } from '../../testing/observations.ts';
import { decideEvictionEvent, withEviction, type Evictions } from './evictions.ts';

const DEPLOYMENT = aWatch().spec;
const podSelector = { matchLabels: { app: 'web' } };

function evicted(...nodes: string[]): Evictions {
  let evictions: Evictions | undefined;
  for (const node of nodes) evictions = withEviction(evictions, node, NOW);
  return evictions!;
}

function noteOf(evictions: Evictions, spec: TrafficWatchSpec = DEPLOYMENT): string | undefined {
  return decideEvictionEvent({ evictions, toldAt: undefined, spec, now: NOW + 10_000 })?.note;
}

describe('the event for evictions', () => {
  it('counts the pods of each node, and says what to do', () => {
    expect(
      decideEvictionEvent({
        evictions: evicted('n1', 'n2', 'n1'),
        toldAt: undefined,
        spec: DEPLOYMENT,
        now: NOW + 10_000,
      }),
    ).toEqual({
      type: 'Warning',
      reason: 'PodsEvicted',
      note:
        '3 pods were evicted from unfit nodes: n1 (2), n2 (1); to keep a descheduler from moving pods, set ' +
        'spec.placement to Preferred, or exclude the pods from its plugin RemovePodsViolatingNodeAffinity ' +
        '(docs/descheduler.md)',
    });
  });

  it.each([
    [['n1'], '1 pod was evicted from an unfit node: n1 (1); '],
    [['n1', 'n1'], '2 pods were evicted from an unfit node: n1 (2); '],
    [
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'a'],
      '8 pods were evicted from unfit nodes: a (2), b (1), c (1), d (1), e (1), others (2); ',
    ],
  ])('names at most five nodes: %j', (nodes, begin) => {
    expect(noteOf(evicted(...nodes))).toContain(begin);
  });

  it.each([
    ['Required', 'set spec.placement to AtCreation or Preferred, or exclude'],
    ['Preferred', 'remove preferredDuringSchedulingIgnoredDuringExecution from its nodeAffinityType, or exclude'],
    ['AtCreation', 'remove preferredDuringSchedulingIgnoredDuringExecution from its nodeAffinityType, or exclude'],
  ] as const)('says what to do about pods of others with %s', (placement, action) => {
    expect(noteOf(evicted('n1'), aForeignWatch({ podSelector }, { placement }).spec)).toContain(action);
  });

  it.each([
    ['10 s after the first', 10_000, undefined, true],
    ['not before: more pods may end', 9_999, undefined, false],
    ['10 minutes after the event before', 10_000, NOW + 10_000 - 600_000, true],
    ['not before: a descheduler runs again and again', 10_000, NOW + 10_001 - 600_000, false],
  ])('comes %s', (_, after, toldAt, isDue) => {
    const event = decideEvictionEvent({ evictions: evicted('n1'), toldAt, spec: DEPLOYMENT, now: NOW + after });
    expect(event !== undefined).toBe(isDue);
  });
});
