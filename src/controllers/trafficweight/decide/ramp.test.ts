import { describe, expect, it } from 'vitest';
import type { RampSpec, RampStatus, TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import { findCondition } from '../../../runtime/controller/conditions.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import type { RampState, RampStep } from '../../../weights/ramp/ramp.ts';
import { rampEvents, rampSceneOf, rampSettingsOf } from './ramp.ts';
import { isInForce, statusOf, undecidedStatus } from './status.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const GATE = { query: 'errors', condition: '< 0.01' };
const specOf = (ramp: RampSpec | undefined, recordTTL?: number): TrafficWeight['spec'] => ({
  ...{ clusterName: 'a', backend: { static: { weight: 50 } } },
  ramp,
  recordTTL,
});
const SPEC = specOf({ step: 10, gate: GATE }, 60);
const WEIGHT: TrafficWeight = { metadata: { name: 'main', generation: 1 }, spec: SPEC };
const STATE: RampState = { from: 0, target: 50, weight: 10, phase: 'Progressing', failures: 0 };

interface AfterOptions {
  readonly spec?: TrafficWeight['spec'];
  readonly isRead?: boolean;
  readonly endpoints?: readonly (readonly [string, DnsEndpoint])[];
}

const after = (step: RampStep, { spec = SPEC, isRead = true, endpoints }: AfterOptions = {}) => {
  const endpoint = { metadata: { generation: 1 }, status: { observedGeneration: isRead ? 1 : 0 } };
  const outcome = { spec, desiredWeight: 50, step, hosts: [], ingresses: 1, beyond: [], failures: [] };
  return statusOf({ ...WEIGHT, spec }, { ...outcome, endpoints: new Map(endpoints ?? [['shop/a', endpoint]]) }, NOW_MS);
};
const stateOf = (status: ReturnType<typeof after>, type: string): unknown => {
  const { status: is, reason, message } = findCondition(status.conditions, type) ?? {};
  return `${is} ${reason}: ${message}`;
};

describe('the interval', () => {
  it.each([
    ['twice the TTL', { step: 1 }, 60, 60, 120_000],
    ['twice the TTL, before there are records', { step: 1 }, 60, 0, 120_000],
    ['twice the TTL of external-dns without one', { step: 1 }, undefined, 0, 600_000],
    ['twice the TTL of the records instead of the TTL of the spec', { step: 1 }, 60, 300, 600_000],
    ['the interval of the spec', { step: 1, interval: '10m' }, 60, 60, 600_000],
    ['twice the TTL if the interval of the spec is shorter', { step: 1, interval: '1m' }, 60, 60, 120_000],
  ])('is %s', (_, ramp, ttl, publishedTtl, intervalMs) => {
    expect(rampSettingsOf(specOf(ramp, ttl), publishedTtl)).toMatchObject({
      intervalMs,
      rollback: 'Immediate',
      failureLimit: 0,
    });
  });
});

describe('the scene', () => {
  it('is the weight of the stored state', () => {
    const state = { ...STATE, nextStepAt: NOW_MS, gate: { result: 'Failed', value: 0.02 } } as const;
    const { ramp } = after({ weight: 10, state });
    const status = { desiredWeight: 50, appliedWeight: 10, currentWeight: 10, ramp: ramp! };
    const scene = rampSceneOf(
      { ...WEIGHT, status },
      { spec: SPEC, desired: 50, publishedTtl: 60, isUnverified: false, now: NOW_MS },
    );
    expect(scene).toMatchObject({ state, last: 10, desired: 50, isInForce: true });
  });

  it.each([
    ['Observed', 'NotObservedYet', undefined, false],
    ['Observed', 'NotObservedYet', 'Applied', true],
    ['Observed', 'AllObserved', undefined, true],
    ['Applied', 'NotAppliedYet', undefined, false],
    ['Applied', 'WriteFailed', undefined, true],
    ['Published', 'NotPublishedYet', 'Applied', false],
    ['Published', 'NotPublished', undefined, true],
  ] as const)('with %s %s, and acknowledge %s, is still in force: %s', (type, reason, acknowledge, wanted) => {
    const status = { conditions: [{ type, status: 'False', reason, message: '', lastTransitionTime: '' } as const] };
    const spec = { ...SPEC, ...(acknowledge && { acknowledge }) };
    const scene = rampSceneOf(
      { ...WEIGHT, status },
      { spec, desired: 50, publishedTtl: 60, isUnverified: false, now: NOW_MS },
    );
    expect(scene.isStillInForce).toBe(wanted);
  });

  it('without a ramp begins from the weight that the records were given last', () => {
    const scene = (status: TrafficWeight['status']) =>
      rampSceneOf(
        { ...WEIGHT, status },
        { spec: SPEC, desired: 50, publishedTtl: 60, isUnverified: false, now: NOW_MS },
      );
    expect(scene({ appliedWeight: 5, currentWeight: 5 })).toMatchObject({ last: 5, isInForce: true, state: undefined });
    expect(scene({ appliedWeight: 5, currentWeight: 0 })).toMatchObject({ last: 5, isInForce: false });
    // The weight that was desired while nothing could be decided was not applied.
    expect(scene({ desiredWeight: 100, appliedWeight: 5, currentWeight: 5 })).toMatchObject({ last: 5 });
    expect(scene(undefined)).toMatchObject({ last: undefined, isInForce: false });
  });
});

it('a weight that is desired while nothing can be decided is ramped afterwards', () => {
  const before = { desiredWeight: 5, appliedWeight: 5, currentWeight: 5 };
  const why = { reason: 'NotRead', message: 'forbidden' };
  const status = undecidedStatus({ ...WEIGHT, status: before }, why, {
    desiredWeight: 50,
    now: '2026-01-01T00:00:00Z',
  });
  const scene = rampSceneOf(
    { ...WEIGHT, status },
    { spec: SPEC, desired: 50, publishedTtl: 60, isUnverified: false, now: NOW_MS },
  );
  expect(scene).toMatchObject({ last: 5, desired: 50, isInForce: true });
});

describe('the status of a step', () => {
  it('tells when the next one is due, once it is in force', () => {
    const waiting = after({ weight: 10, state: STATE }, { isRead: false });
    expect(waiting.ramp).toEqual({
      ...STATE,
      message: 'The weight is 10 on its way from 0 to 50; it is not in force yet',
    });
    expect(stateOf(waiting, 'Ready')).toMatch(/^False NotObservedYet/);
    const status = after({ weight: 10, state: STATE });
    expect(status).toMatchObject({
      desiredWeight: 50,
      currentWeight: 10,
      ramp: { nextStepTime: '2026-01-01T00:02:00Z' },
    });
    const message = 'The weight is 10 on its way from 0 to 50; the next step is due at 2026-01-01T00:02:00Z';
    expect([stateOf(status, 'Ready'), stateOf(status, 'Ramped')]).toEqual(Array(2).fill(`False Ramping: ${message}`));
  });

  it('counts the longest TTL of its records: the TTL of the other clusters', () => {
    const state = { ...STATE, nextStepAt: undefined };
    const endpoints = [60, 300, 120].map((recordTTL, n): [string, DnsEndpoint] => {
      const spec = { endpoints: [{ dnsName: `h${n}`, targets: [], recordType: 'A', recordTTL }] };
      return [`shop/${n}`, { metadata: { generation: 1 }, status: { observedGeneration: 1 }, spec }];
    });
    const { ramp } = after({ weight: 10, state }, { endpoints });
    expect(ramp?.nextStepTime).toBe('2026-01-01T00:10:00Z');
  });

  it('is not the desired weight in force, not even the last one before its gate has passed', () => {
    expect(isInForce(after({ weight: 10, state: STATE }), SPEC)).toBe(false);
    expect(isInForce(after({ weight: 50, state: { ...STATE, weight: 50 } }), SPEC)).toBe(false);
    expect(isInForce(after({ weight: 50 }), SPEC)).toBe(true);
  });

  it('has a condition only with a ramp', () => {
    expect(stateOf(after({ weight: 50 }), 'Ramped')).toBe(
      'True DesiredWeightReached: The desired weight 50 was reached.',
    );
    expect(findCondition(after({ weight: 50 }, { spec: specOf(undefined) }).conditions, 'Ramped')).toBeUndefined();
  });

  it.each<[Partial<RampState>, string]>([
    [
      { gate: { result: 'NoData', message: 'the query gives no series' } },
      'GateWithoutData: The weight is 10 on its way from 0 to 50; the gate has no data, so it waits: the query gives no series',
    ],
    [
      { gate: { result: 'Failed', value: 0.5 }, failures: 1, nextStepAt: NOW_MS },
      'Ramping: The weight is 10 on its way from 0 to 50; gate returned 0.5, required < 0.01 (1 of 0 allowed failures); the next step is due at 2026-01-01T00:00:00Z',
    ],
    [
      { gate: { result: 'Failed', value: 0.5 }, phase: 'RollingBack', nextStepAt: NOW_MS },
      'RollingBack: Rolling back to 0, now at 10: gate returned 0.5, required < 0.01; the next step is due at 2026-01-01T00:00:00Z',
    ],
    [
      { gate: { result: 'Failed', value: 0.5 }, phase: 'RolledBack', weight: 0 },
      'RolledBack: Rolled back to 0: gate returned 0.5, required < 0.01. Request a weight other than 50 to retry',
    ],
    [
      { gate: { result: 'Failed', value: 0.9230769230769231 }, phase: 'RolledBack', weight: 0 },
      'RolledBack: Rolled back to 0: gate returned 0.9231, required < 0.01. Request a weight other than 50 to retry',
    ],
    [
      { gate: { result: 'Failed', value: 0.5 }, phase: 'Held' },
      'Held: Held at 10 on the way from 0 to 50: gate returned 0.5, required < 0.01. Request a weight other than 50 to retry',
    ],
  ])('says what it waits for', (over, text) => {
    const state = { ...STATE, ...over };
    expect(stateOf(after({ weight: state.weight, state }), 'Ready')).toBe(`False ${text}`);
  });
});

describe('events', () => {
  const BEGUN: RampStatus = { from: 0, target: 50, weight: 10, phase: 'Progressing', failures: 0, message: '' };
  const ramp = (over: Partial<RampStatus>): RampStatus => ({ ...BEGUN, ...over });
  it.each([
    [{ appliedWeight: 0 }, ramp({}), ['Weight 0 -> 10 (on the way to 50)']],
    [{ appliedWeight: 10 }, ramp({ weight: 20 }), ['Weight 10 -> 20 (on the way to 50)']],
    [{ appliedWeight: 10 }, ramp({ weight: 0, phase: 'RolledBack' }), ['Weight 10 -> 0 (rollback to 0)']],
    [{ appliedWeight: 10 }, ramp({ failures: 1 }), []],
    [{ appliedWeight: 50 }, undefined, []],
  ])('tell each step', (before, now, notes) => {
    const events = rampEvents(before, { ...(now && { ramp: now }) });
    expect(events.map(({ note }) => note)).toEqual(notes);
  });
});
