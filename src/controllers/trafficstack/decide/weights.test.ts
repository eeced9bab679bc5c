import { describe, expect, it } from 'vitest';
import type { ComponentSpec, ComponentStatus } from '../../../api/trafficstack/trafficStack.ts';
import { TRAFFIC_WEIGHTS } from '../../../api/trafficweight/trafficWeight.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { ObservedComponent } from '../model/observation.ts';
import { at, component, NOW, observed, REVISION, stackOf } from '../testing/stacks.ts';
import { eventQueryOf } from './cause.ts';
import { planComponent } from './component.ts';

/** A condition Ready: its status, reason, and generation. */
type Ready = readonly [status: string, reason: string, generation?: number];
const IN_FORCE: Ready = ['True', 'InForce'];
const NOT_OBSERVED: Ready = ['False', 'NotObservedYet'];
const UNAVAILABLE: Ready = ['False', 'BackendUnavailable'];

const SPEC: ComponentSpec = { name: 'dns', type: 'Weights', deadline: '60s' };
const OBJECT = { apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficWeight', metadata: { name: 'dns' } };
const OWNER = { apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficStack', name: 'main', uid: 'stack-uid' };

function weight(ready: Ready | undefined, observedGeneration: number | undefined, isOwn = true): KubeObject {
  const [status, reason, generation = 3] = ready ?? [];
  const conditions = ready && [{ type: 'Ready', status, reason, message: 'M.', observedGeneration: generation }];
  const metadata = { name: 'dns', uid: 'uid', generation: 3, ...(isOwn && { ownerReferences: [OWNER] }) };
  return { ...OBJECT, metadata, status: { observedGeneration, conditions } } as KubeObject;
}

function dns(live: KubeObject | undefined, over: Partial<ComponentSpec> = {}): ObservedComponent {
  const object = { resource: TRAFFIC_WEIGHTS, object: OBJECT, hash: 'h', live, isCurrent: live !== undefined };
  return { spec: { ...SPEC, ...over }, objects: [object], pods: [], variables: {}, revision: REVISION };
}

function plan(seen: ObservedComponent, prior?: Partial<ComponentStatus>) {
  const before: ComponentStatus = {
    ...{ name: 'dns', type: 'Weights', state: 'Ready', reason: 'InForce', message: '' },
    ...{ since: at(-70), revision: REVISION, readyRevision: REVISION, ...prior },
  };
  const stack = stackOf([seen.spec], prior === undefined ? {} : { components: [before] });
  return planComponent(seen, { stack, before: new Map(), now: NOW, left: [], waves: new Map() });
}

describe('a component with a TrafficWeight', () => {
  const NO_STATUS = 'TrafficWeight dns has no status of its generation yet';
  it.each<[string, KubeObject, string, string]>([
    ['is Unknown without a status', weight(undefined, undefined), 'Unknown (StatusMissing)', NO_STATUS],
    ['is Unknown without a condition', weight(undefined, 3), 'Unknown (StatusMissing)', NO_STATUS],
    ['is Unknown with a status of an older spec', weight(IN_FORCE, 2), 'Unknown (StatusMissing)', NO_STATUS],
    [
      'is Unknown with a condition of an older spec',
      weight(['True', 'InForce', 2], 3),
      'Unknown (StatusMissing)',
      NO_STATUS,
    ],
    ['is as its condition says', weight(NOT_OBSERVED, 3), 'Progressing (NotObservedYet)', 'TrafficWeight dns: M.'],
    ['is so with a fault, too', weight(UNAVAILABLE, 3), 'Progressing (BackendUnavailable)', 'TrafficWeight dns: M.'],
    ['is not Ready if that is Unknown', weight(['Unknown', 'X'], 3), 'Progressing (X)', 'TrafficWeight dns: M.'],
    ['is Ready if it is in force', weight(IN_FORCE, 3), 'Ready (InForce)', 'TrafficWeight dns: M.'],
  ])('%s', (_, live, is, message) => {
    const { status, what } = plan(dns(live));
    expect([`${status.state} (${status.reason})`, status.message, what]).toEqual([is, message, 'TrafficWeight dns']);
    expect(status).not.toHaveProperty('replicas');
    expect(status).not.toHaveProperty('version');
  });

  it.each<[string, Ready, Partial<ComponentStatus> | undefined, string, number | undefined]>([
    ['was never ready: the deadline runs', NOT_OBSERVED, undefined, 'Progressing', NOW + 60_000],
    ['is late', NOT_OBSERVED, { state: 'Progressing', revision: REVISION, readyRevision: '' }, 'Failed', NOW - 10_000],
    ['was ready with another spec', NOT_OBSERVED, { revision: 'r0' }, 'Progressing', NOW + 60_000],
    [
      'was ready, and its backend asks for another weight: without a deadline',
      NOT_OBSERVED,
      {},
      'Progressing',
      undefined,
    ],
    ['is on its way for long', ['False', 'Ramping'], { state: 'Progressing' }, 'Progressing', undefined],
    ['was ready, and its backend is away', UNAVAILABLE, {}, 'Degraded', undefined],
    ['is away while a weight was on its way', UNAVAILABLE, { state: 'Progressing' }, 'Degraded', undefined],
  ])('%s', (_, ready, prior, state, deadlineAt) => {
    const planned = plan(dns(weight(ready, 3)), prior);
    expect([planned.status.state, planned.deadlineAt]).toEqual([state, deadlineAt]);
  });

  it('may have a condition of the stack, too, over the whole object', () => {
    const ready = { expression: 'workload.status.observedGeneration > 3' };
    expect(plan(dns(weight(IN_FORCE, 3), { ready })).status).toMatchObject({
      ...{ state: 'Progressing', reason: 'NotReadyYet' },
      message: 'TrafficWeight dns: M.; ready.expression "workload.status.observedGeneration > 3" is false',
    });
  });

  it('has no Events asked for, and is what others wait for by name', () => {
    const seen = dns(weight(NOT_OBSERVED, 3));
    expect(eventQueryOf(seen)).toBeUndefined();
    const web = observed(component('web', { dependsOn: ['dns'] }), 'none');
    const before = new Map([['dns', plan(seen)]]);
    expect(
      planComponent(web, { stack: stackOf([]), before, now: NOW, left: [], waves: new Map() }).status.waitingOn,
    ).toMatchObject({
      ...{ component: 'dns', what: 'TrafficWeight dns', observed: 'Progressing: TrafficWeight dns: M.' },
    });
  });

  it.each<[string, ComponentSpec['mode'], KubeObject | undefined, string, number]>([
    ['Managed, of another owner', 'Managed', weight(IN_FORCE, 3, false), 'Failed (ForeignObject)', 0],
    ['External, of another owner', 'External', weight(IN_FORCE, 3, false), 'Ready (InForce)', 0],
    ['External, of another owner, stale', 'External', weight(IN_FORCE, 2, false), 'Unknown (StatusMissing)', 0],
    ['External, missing', 'External', undefined, 'Progressing (ExternalMissing)', 0],
    ['Auto, missing', 'Auto', undefined, 'Progressing (Applying)', 1],
  ])('%s', (_, mode, live, is, applied) => {
    const { status, apply } = plan(dns(live, { mode }));
    expect([`${status.state} (${status.reason})`, apply.length]).toEqual([is, applied]);
  });
});
