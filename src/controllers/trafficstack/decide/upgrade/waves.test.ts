import { describe, expect, it } from 'vitest';
import type { ComponentStatus } from '../../../../api/trafficstack/trafficStack.ts';
import type { ObservedComponent } from '../../model/observation.ts';
import { at, component, NOW, observed, REVISION, stackOf, type There } from '../../testing/stacks.ts';
import { planStack } from '../plan.ts';
import { isBeingChanged, lastReadyOf, wavesOf } from './waves.ts';

const DB = component('db');
const CACHE = component('cache');
const WEB = component('web', { dependsOn: ['db'], deadline: '60s' });
/** Comes after web by its wave, and does not depend on it. */
const JOBS = component('jobs', { dependsOn: ['metrics'] });
const METRICS = component('metrics', { dependsOn: ['cache'] });
const ALL = [DB, CACHE, WEB, METRICS, JOBS];

/** Changed from an older revision, and not ready yet. */
const BEGUN = { state: 'Progressing', revision: REVISION, readyRevision: undefined, lastReadyRevision: 'r0' } as const;

/** All were ready with an older revision; those without an entry are ready with this one. */
function plan(there: Record<string, There>, prior: Record<string, Partial<ComponentStatus>> = {}, now = NOW) {
  const components: ObservedComponent[] = ALL.map((spec) => observed(spec, there[spec.name] ?? { available: 2 }));
  const status = ALL.map(({ name }) => {
    const ready = { state: 'Ready', reason: '', message: '', replicas: 2, readyReplicas: 2 } as const;
    const revision = there[name] === undefined ? REVISION : 'r0';
    return {
      ...{ name, type: 'Workload' as const, ...ready, since: at(-10), revision, readyRevision: revision },
      ...prior[name],
    };
  });
  const planned = planStack({
    stack: stackOf(ALL, { components: status }),
    ...{ components, left: [], withPods: new Map(), now },
  });
  return new Map(planned.statuses.map((each) => [each.name, each]));
}
const reasons = (statuses: ReadonlyMap<string, ComponentStatus>, ...names: string[]) =>
  names.map((name) => statuses.get(name)?.reason);

it('a component comes one wave after the last of those that it depends on', () => {
  const both = component('both', { dependsOn: ['db', 'jobs'] });
  const components = [...ALL, both].map((spec) => ({ spec }));
  expect([...wavesOf(components)]).toEqual([
    ...[
      ['db', 0],
      ['cache', 0],
      ['web', 1],
      ['metrics', 1],
      ['jobs', 2],
      ['both', 3],
    ],
  ]);
});

describe('an upgrade', () => {
  it('changes the components of one wave together, also of independent branches', () => {
    expect(reasons(plan({ db: 'old', cache: 'old' }), 'db', 'cache')).toEqual(['Applying', 'Applying']);
  });

  it('does not change a later wave before the earlier one is ready, although nothing there depends on it', () => {
    const statuses = plan({ web: 'old', jobs: 'old' });
    expect(statuses.get('web')).toMatchObject({ state: 'Progressing', lastReadyRevision: 'r0' });
    expect(statuses.get('jobs')).toMatchObject({
      ...{ state: 'Waiting', reason: 'WaitingForWave', blockedBy: ['web'], lastReadyRevision: 'r0' },
      message: 'waits to be changed after web: Progressing: to change: Deployment shop/web',
      waitingOn: { component: 'web', what: 'Deployment shop/web', since: at(0) },
    });
    expect(reasons(plan({ web: { available: 1 }, jobs: 'old' }, { web: BEGUN }), 'jobs')).toEqual(['WaitingForWave']);
    const ended = plan({ web: { available: 2 }, jobs: 'old' }, { web: BEGUN });
    expect(ended.get('web')).toMatchObject({ state: 'Ready' });
    expect(ended.get('web')).not.toHaveProperty('lastReadyRevision');
    expect(reasons(ended, 'jobs')).toEqual(['Applying']);
  });

  it('names the root, if the earlier wave waits itself', () => {
    const statuses = plan(
      { db: { available: 1 }, web: 'old', jobs: 'old' },
      { db: { state: 'Degraded', revision: REVISION, readyRevision: REVISION } },
    );
    expect(statuses.get('jobs')).toMatchObject({ reason: 'WaitingForWave', waitingOn: { component: 'db' } });
  });

  it('stops at a wave that misses its deadline', () => {
    const late = plan({ web: { available: 1 }, jobs: 'old' }, { web: BEGUN }, NOW + 50_000);
    expect(late.get('web')).toMatchObject({ state: 'Failed', reason: 'DeadlineExceeded', lastReadyRevision: 'r0' });
    expect(late.get('jobs')).toMatchObject({
      ...{ state: 'Waiting', reason: 'UpgradeStopped', blockedBy: ['web'] },
      message:
        'is not changed: the upgrade stopped at web: Failed: not ready within 60s: Deployment shop/web: 1 of 2 pods are available',
    });
    const failed = { ...BEGUN, state: 'Failed', reason: 'DeadlineExceeded' } as const;
    expect(reasons(plan({ web: { available: 1 }, jobs: 'old' }, { web: failed }), 'jobs')).toEqual(['UpgradeStopped']);
  });

  it('is not held by a later wave that has failed, nor by a component that was never ready', () => {
    const failed = {
      state: 'Failed',
      reason: 'DeadlineExceeded',
      readyRevision: undefined,
      revision: REVISION,
    } as const;
    const later = { jobs: { ...failed, lastReadyRevision: 'r0' } };
    expect(reasons(plan({ web: 'old', jobs: { available: 1 } }, later), 'web')).toEqual(['Applying']);
    const isNew = { web: failed };
    expect(reasons(plan({ web: { available: 1 }, jobs: 'old' }, isNew), 'jobs')).toEqual(['Applying']);
  });

  it('creates what is new or was deleted, and corrects what was never ready, at any time', () => {
    expect(reasons(plan({ web: 'old', jobs: 'none' }), 'jobs')).toEqual(['Applying']);
    const failed = {
      state: 'Failed',
      reason: 'DeadlineExceeded',
      readyRevision: undefined,
      lastReadyRevision: 'r9',
    } as const;
    const components = { web: 'old', jobs: 'old' } as const;
    expect(reasons(plan(components, { jobs: { ...failed, reason: 'NotReadyYet' } }), 'jobs')).toEqual(['Applying']);
  });
});

describe('of a component whose spec is the same', () => {
  const isApplied = { state: 'Ready', revision: REVISION, readyRevision: REVISION } as const;

  it('another number of nodes waits for no wave, also while an upgrade has stopped', () => {
    const failed = {
      state: 'Failed',
      reason: 'DeadlineExceeded',
      revision: REVISION,
      readyRevision: undefined,
    } as const;
    const stopped = plan(
      { web: { available: 1 }, jobs: 'old' },
      { web: { ...failed, lastReadyRevision: 'r0' }, jobs: isApplied },
    );
    expect(reasons(stopped, 'jobs')).toEqual(['Applying']);
    const held = { state: 'Waiting', reason: 'UpgradeStopped', revision: REVISION, readyRevision: undefined } as const;
    const change = { ...held, lastReadyRevision: 'r0' };
    const goesOn = plan(
      { web: { available: 1 }, jobs: 'old' },
      { web: { ...failed, lastReadyRevision: 'r0' }, jobs: change },
    );
    expect(reasons(goesOn, 'jobs')).toEqual(['UpgradeStopped']);
  });

  it('it is applied again, and that holds no other wave; a change meanwhile does', () => {
    const again = plan({ web: 'old', jobs: 'old' }, { web: isApplied });
    expect(again.get('web')).toMatchObject({ reason: 'Applying', lastReadyRevision: REVISION });
    expect(reasons(again, 'jobs')).toEqual(['Applying']);
    const begun = { state: 'Progressing', revision: 'r9', readyRevision: undefined, lastReadyRevision: 'r9' } as const;
    const meanwhile = plan({ web: 'old', jobs: 'old' }, { web: begun });
    expect(meanwhile.get('web')).toMatchObject({ lastReadyRevision: 'r9' });
    expect(reasons(meanwhile, 'jobs')).toEqual(['WaitingForWave']);
  });
});

it('a revision that was rolled back stops the upgrade, although the one that runs was ready', () => {
  const rolledBackFrom = { revision: 'r1', message: 'm' };
  expect(isBeingChanged({ revision: 'r0', lastReadyRevision: 'r0', rolledBackFrom })).toBe(true);
  expect(isBeingChanged({ revision: 'r0', lastReadyRevision: 'r0' })).toBe(false);
});

describe('the last ready revision', () => {
  it.each<[string, Partial<ComponentStatus> | undefined, Pick<ComponentStatus, 'mode' | 'readyRevision'>, string?]>([
    ['is the one that was ready', { readyRevision: 'r0' }, {}, 'r0'],
    ['is kept until it is ready', { lastReadyRevision: 'r0' }, {}, 'r0'],
    ['is not kept after that', { lastReadyRevision: 'r0' }, { readyRevision: REVISION }, undefined],
    ['is the same if that is applied again', { readyRevision: REVISION }, {}, REVISION],
    ['is none of one that is not written', { readyRevision: 'r0' }, { mode: 'External' }, undefined],
    ['is none of one that was never ready', {}, {}, undefined],
    ['is none of one that is new', undefined, {}, undefined],
  ])('%s', (_, prior, now, last) => {
    const before = prior && ({ name: 'web', type: 'Workload', ...prior } as ComponentStatus);
    expect(lastReadyOf(now, before).lastReadyRevision).toBe(last);
  });
});
