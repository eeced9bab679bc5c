import { beforeEach, describe, expect, it } from 'vitest';
import type { HostExplanation } from '../../api/trafficweight/trafficWeight.ts';
import type { PlannedSource } from '../../weights/plan/plan.ts';
import { IngressEvents } from './events.ts';

const SOURCE: PlannedSource = {
  source: {
    ...{ kind: 'Ingress', apiVersion: 'networking.k8s.io/v1', namespace: 'shop', name: 'web', uid: 'uid-web' },
    ...{ createdAt: '2026-01-01T00:00:00Z', annotations: {}, hosts: [], targets: [] },
  },
  ...{ hosts: [], desired: undefined, live: undefined, hasLostAddress: false },
};
const INVALID: HostExplanation = { host: 'web.example.org', reason: 'InvalidAnnotation', message: '"NaN": must be 0' };
const ACCEPTED: HostExplanation = { host: 'web.example.org', reason: 'ClusterWeight', weight: 40 };

describe('an Ingress', () => {
  let written: string[];
  let events: IngressEvents;

  beforeEach(() => {
    written = [];
    events = new IngressEvents({
      event: ({ kind, metadata }, type, reason, note) =>
        written.push(`${kind} ${metadata?.name} ${type} ${reason} ${note}`),
    });
  });
  const toldAll = (hosts: readonly HostExplanation[], name = 'main'): string[] => {
    events.record(name, [[SOURCE, hosts]]);
    return written.splice(0);
  };
  const told = (host: HostExplanation, name = 'main'): string[] => toldAll([host], name);

  it('that is refused has an event with the host and what is wrong, once', () => {
    expect(told(INVALID)).toEqual(['Ingress web Warning InvalidAnnotation web.example.org: "NaN": must be 0']);
    expect(told(INVALID)).toEqual([]);
  });

  it('has another event when the message changes, and when it is refused again', () => {
    told(INVALID);
    expect(told({ ...INVALID, message: '"x": must be 0' })).toHaveLength(1);
    expect(told(ACCEPTED)).toEqual([]);
    expect(told(INVALID)).toHaveLength(1);
  });

  it('has an event of each TrafficWeight, again after that one was deleted', () => {
    told(INVALID);
    expect(told(INVALID, 'other')).toHaveLength(1);
    events.forget('main');
    expect([told(INVALID, 'other'), told(INVALID)].map(({ length }) => length)).toEqual([0, 1]);
  });

  it('with thousands of refused hosts has one event for each reason', () => {
    const hosts = Array.from({ length: 4_000 }, (_, n) => ({ ...INVALID, host: `h${n}.example.org` }));
    const conflicts = ['x', 'y'].map((host): HostExplanation => ({ host, reason: 'Conflict', message: 'taken' }));
    expect(toldAll([...hosts, ACCEPTED, ...conflicts])).toEqual([
      'Ingress web Warning InvalidAnnotation h0.example.org: "NaN": must be 0 (and 3999 more hosts)',
      'Ingress web Warning Conflict x: taken (and 1 more host)',
    ]);
    expect(toldAll(hosts)).toEqual([]);
  });
});
