import { describe, expect, it } from 'vitest';
import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { CONTROLLER_REVISIONS } from '../../../runtime/client/resources.ts';
import { at, component, NOW, stackOf } from '../testing/stacks.ts';
import type { StackPlan } from './plan.ts';
import { withFailures } from './status.ts';

const status = (name: string, over: Partial<ComponentStatus> = {}): ComponentStatus => {
  return { name, type: 'Workload', state: 'Ready', reason: 'X', message: 'm', since: at(0), ...over };
};
const waits = (name: string, blockedBy: string[], component = 'db', observed = 'Progressing: to create: it') =>
  status(name, {
    ...{
      state: 'Waiting',
      reason: 'WaitingForDependencies',
      message: `waits for ${component}: ${observed}`,
      blockedBy,
    },
    waitingOn: { component, what: `Deployment shop/${component}`, observed, since: at(0) },
  });
const applying = (name: string) => status(name, { state: 'Progressing', reason: 'Applying', message: 'to create: it' });
const workloads = new Map(['slow', 'db', 'api', 'web'].map((name) => [name, `Deployment shop/${name}`]));
const FAILURE = { reason: 'WriteFailed', message: 'Deployment shop/db: may not be patched' };
const STACK = stackOf([component('db')]);
const DAYS = 3 * 24 * 3_600;
/** After a reconcile whose write of db failed. @param stack as it was before */
const afterFailure = (statuses: readonly ComponentStatus[], stack = STACK) =>
  withFailures(
    { statuses, workloads, store: [] },
    { failures: [{ component: 'db', ...FAILURE }], open: new Set() },
    { stack, now: NOW },
  );

it('components that wait name the write that failed, along the chain', () => {
  const statuses = [applying('db'), waits('api', ['db']), waits('web', ['api'])];
  const after = afterFailure(statuses);
  const observed = `Progressing: ${FAILURE.message}`;
  const waitingOn = { component: 'db', what: 'Deployment shop/db', observed, since: at(0) };
  expect(after).toMatchObject([
    { name: 'db', state: 'Progressing', ...FAILURE },
    { name: 'api', state: 'Waiting', waitingOn, message: `waits for db: ${observed}` },
    { name: 'web', state: 'Waiting', waitingOn },
  ]);
});

it('a component that only needs time is not the root if the write of another failed', () => {
  const statuses = [applying('slow'), applying('db'), waits('web', ['slow', 'db'], 'slow')];
  const after = afterFailure(statuses);
  expect(after.at(-1)?.waitingOn?.component).toBe('db');
});

it('what waits for an earlier wave goes on to do so, whatever the order of the two, and what waits for a removal, too', () => {
  const held = { ...waits('jobs', ['web'], 'web', 'Failed: late'), reason: 'UpgradeStopped', message: 'not changed' };
  const web = status('web', { state: 'Failed', reason: 'DeadlineExceeded', message: 'late' });
  const removal = { ...waits('api', ['site'], 'site', 'Removing: x'), reason: 'WaitingForRemoval' };
  const [, jobs, api] = afterFailure([applying('db'), held, removal, web]);
  expect(jobs).toMatchObject({
    ...{ reason: 'UpgradeStopped', blockedBy: ['web'], waitingOn: { component: 'web', observed: 'Failed: late' } },
    message: 'is not changed: the upgrade stopped at web: Failed: late',
  });
  expect(api).toEqual(removal);
});

it('what waits for one that runs, and is broken, names the write that failed behind it', () => {
  const broken = status('api', { state: 'Degraded', reason: 'CrashLoopBackOff' });
  const statuses = [applying('db'), broken, waits('web', ['api'])];
  const stack = stackOf([component('db'), component('api', { dependsOn: ['db'] })]);
  expect(afterFailure(statuses, stack).at(-1)?.waitingOn).toMatchObject({
    ...{ component: 'db', observed: `Progressing: ${FAILURE.message}` },
  });
});

it('one that was ready is Degraded since now, and others are unchanged', () => {
  const ready = status('db', { since: at(-DAYS) });
  const statuses = [ready, status('web'), waits('api', ['slow'], 'slow')];
  const after = afterFailure(statuses, stackOf([component('db')], { components: [ready] }));
  expect(after).toEqual([{ ...ready, state: 'Degraded', since: at(0), ...FAILURE }, ...statuses.slice(1)]);
});

it('it is Degraded since the first failure while writes go on to fail', () => {
  const before = status('db', { state: 'Degraded', since: at(-60), ...FAILURE });
  const [after] = afterFailure([status('db')], stackOf([component('db')], { components: [before] }));
  expect(after).toMatchObject({ state: 'Degraded', since: at(-60) });
});

describe('while its writes have not ended', () => {
  const before = (over: Partial<ComponentStatus>) => stackOf([component('db')], { components: [status('db', over)] });
  const during = (now: ComponentStatus, stack: TrafficStack, store: StackPlan['store'] = []) =>
    withFailures(
      { statuses: [now, waits('api', ['db'])], workloads, store },
      { failures: [], open: new Set(['db']) },
      { stack, now: NOW },
    );
  const revision = (over: object = {}) => {
    return { component: 'db', resource: CONTROLLER_REVISIONS, object: {}, live: undefined, ...over };
  };

  it('a component whose write failed stays so, and what waits for it goes on to name that', () => {
    const failed = before({ state: 'Progressing', ...FAILURE, since: at(-60), revision: '1' });
    const [db, api] = during({ ...applying('db'), revision: '1' }, failed);
    expect(db).toEqual(failed.status?.components?.[0]);
    expect(api?.waitingOn?.observed).toBe(`Progressing: ${FAILURE.message}`);
  });

  it('with another spec it is as it is planned', () => {
    const failed = before({ state: 'Progressing', ...FAILURE, revision: '1' });
    const now = { ...applying('db'), revision: '2' };
    expect(during(now, failed)[0]).toEqual(now);
  });

  it('it does not count as ready before what can be restored is stored', () => {
    const starting = before({ state: 'Progressing', reason: 'RollingOut', since: at(-60) });
    expect(during(status('db'), starting, [revision()])[0]).toEqual(starting.status?.components?.[0]);
    expect(during(status('db'), starting, [revision({ live: {} })])[0]).toEqual(status('db'));
    expect(during(status('db'), stackOf([component('db')]), [revision()])[0]).toEqual(status('db'));
  });

  it('a message is not cut in another way than before them', () => {
    const long = { ...waits('api', ['db']), message: 'shortened' };
    const plan = { statuses: [applying('db'), long], workloads, store: [] };
    const open = new Set(['db', 'api']);
    expect(withFailures(plan, { failures: [], open }, { stack: STACK, now: NOW })).toEqual(plan.statuses);
  });
});
