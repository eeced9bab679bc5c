import { describe, expect, it } from 'vitest';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import { behindOf, lateSince, type LateSince } from './late.ts';
import { statusOf } from './status.ts';

const MINUTE = 60_000;
const SPEC = { clusterName: 'a', backend: { static: { weight: 40 } }, recordTTL: 30, ramp: { step: 20 } };
const READ: DnsEndpoint = { metadata: { generation: 2 }, status: { observedGeneration: 2 } };
const UNREAD: DnsEndpoint = { metadata: { generation: 2 }, status: { observedGeneration: 1 } };

/** A ramp at the step 20 of 40, with DNSEndpoints of several namespaces. */
class Cluster {
  endpoints = new Map<string, DnsEndpoint>();
  failed: string[] = [];
  left: string[] = [];
  late: LateSince | undefined;
  now = 0;
  spec: Parameters<typeof statusOf>[1]['spec'] = SPEC;

  /** One round after some minutes. */
  after(minutes: number) {
    this.now += minutes * MINUTE;
    const { endpoints, failed, left, spec, now } = this;
    const failures = failed.map((key) => ({ key, reason: 'WriteFailed', message: `DNSEndpoint ${key}: no` }));
    const unwritten = new Set([...failed, ...left]);
    this.late = lateSince({ endpoints, unwritten }, spec, { before: this.late, now });
    const behind = behindOf({ endpoints, failures, left }, this.late, now);
    const state = { from: 0, target: 40, weight: 20, phase: 'Progressing', failures: 0 } as const;
    const outcome = { spec, desiredWeight: 40, step: { weight: 20, state }, hosts: [], ingresses: 1, beyond: [] };
    const before = { metadata: { name: 'main' }, spec, status: { appliedWeight: 20, currentWeight: 0 } };
    const status = statusOf(before, { ...outcome, endpoints, failures, left: left.length, behind }, now);
    const state2 = (type: string) => status.conditions?.find((each) => each.type === type);
    return {
      goesOn: status.ramp?.nextStepTime !== undefined,
      current: status.currentWeight,
      applied: state2('Applied'),
      observed: state2('Observed'),
    };
  }
}

function cluster(endpoints: Readonly<Record<string, DnsEndpoint>>): Cluster {
  const made = new Cluster();
  made.endpoints = new Map(Object.entries(endpoints));
  return made;
}

describe('a ramp', () => {
  it('waits ten minutes for a namespace whose DNSEndpoints external-dns does not read', () => {
    const made = cluster({ 'a/x': READ, 'b/x': UNREAD });
    made.after(0);
    expect(made.after(9.9)).toMatchObject({ goesOn: false, observed: { status: 'False', reason: 'NotObservedYet' } });
    const later = made.after(0.1);
    expect(later).toMatchObject({ goesOn: true, current: 0, observed: { status: 'False', reason: 'NotObserved' } });
    expect(later.observed?.message).toBe(
      'external-dns has not read 1 of 2 DNSEndpoints as they are, the first b/x. A ramp no longer waits for the namespaces b, which are late for more than 10 minutes.',
    );
    made.endpoints.set('b/x', READ);
    expect(made.after(0)).toMatchObject({ goesOn: true, current: 20 });
    made.endpoints.set('b/x', UNREAD);
    expect(made.after(1)).toMatchObject({ goesOn: false });
  });

  it('waits while the DNSEndpoints of others are not read', () => {
    const made = cluster({ 'a/x': READ, 'b/x': UNREAD, 'c/x': READ });
    made.after(0);
    made.after(10);
    made.endpoints.set('c/x', UNREAD);
    expect(made.after(1)).toMatchObject({ goesOn: false, observed: { reason: 'NotObservedYet' } });
    made.endpoints.set('c/x', READ);
    expect(made.after(1)).toMatchObject({ goesOn: true });
  });

  it('waits for ever while most are not read: external-dns may not run', () => {
    const made = cluster({ 'a/x': READ, 'b/x': UNREAD, 'c/x': UNREAD });
    made.after(0);
    expect(made.after(600)).toMatchObject({ goesOn: false, observed: { reason: 'NotObservedYet' } });
  });

  it.each(['failed', 'left'] as const)('waits ten minutes for a namespace whose writes have %s', (how) => {
    const made = cluster({ 'a/x': READ, 'b/x': READ });
    made[how] = ['b/x'];
    made.after(0);
    expect(made.after(9)).toMatchObject({ goesOn: false, applied: { status: 'False' } });
    expect(made.after(1)).toMatchObject({
      goesOn: true,
      current: 0,
      applied: { status: 'False', reason: 'WriteFailed' },
    });
  });

  it('waits for no DNSEndpoint to be read if it is enough that they are applied', () => {
    const made = cluster({ 'a/x': UNREAD });
    made.spec = { ...SPEC, acknowledge: 'Applied' };
    expect(made.after(0)).toMatchObject({ goesOn: true, current: 20 });
    expect(made.late).toEqual(new Map());
  });
});
