import { describe, expect, it } from 'vitest';
import { StackReason } from '../../api/trafficstack/reasons.ts';
import type { ComponentStatus, TrafficStackStatus } from '../../api/trafficstack/trafficStack.ts';
import { statusOf, undecidedStatus } from './decide/status.ts';
import { figuresOf } from './metrics.ts';
import { at, NOW, stackOf } from './testing/stacks.ts';

const SECONDS = NOW / 1_000;
const status = (name: string, over: Partial<ComponentStatus> = {}): ComponentStatus => ({
  ...{ name, type: 'Workload', state: 'Ready', reason: 'AllAvailable', message: '' },
  ...{ since: at(-60), replicas: 2, readyReplicas: 2 },
  ...over,
});
const decided = (...statuses: ComponentStatus[]): TrafficStackStatus =>
  statusOf(
    stackOf([]),
    { statuses, workloads: new Map(), store: [], inventory: [] },
    { failures: [], open: new Set(), now: NOW },
  );
const READY = { name: 'db', state: 'Ready', since: SECONDS - 60, desired: 2, available: 2 };

describe('the figures of a status', () => {
  it('count its components and its conditions', () => {
    expect(figuresOf(decided(status('db')))).toEqual({
      ready: { isTrue: true, reason: 'AllReady', since: SECONDS },
      stalled: { isTrue: false, reason: 'NotStalled', since: SECONDS },
      components: [{ ...READY, root: undefined }],
    });
  });

  it('name the root of the chain that a component waits for, and no pods of one that has none', () => {
    const waitingOn = { component: 'db', what: 'StatefulSet shop/db', observed: '', since: at(0) };
    const web = status('web', { state: 'Waiting', waitingOn, replicas: undefined!, readyReplicas: undefined! });
    const { ready, components } = figuresOf(decided(status('db', { state: 'Progressing' }), web));
    expect(ready).toMatchObject({ isTrue: false, reason: 'InProgress' });
    const figures = { name: 'web', state: 'Waiting', since: SECONDS - 60, desired: undefined, available: undefined };
    expect(components[1]).toEqual({ ...figures, root: 'db' });
  });

  it('are none of a stack without a status', () => {
    expect(figuresOf({})).toEqual({ components: [] });
  });
});

describe('while nothing can be decided', () => {
  const was = stackOf([], decided(status('db'), status('web')));
  const undecided = (reason: StackReason): TrafficStackStatus =>
    undecidedStatus(was, { reason, message: '' }, NOW + 30_000);

  it.each([StackReason.NotRead, StackReason.InvalidSpec, StackReason.InvalidDependencies])(
    'nothing looks healthy, since then: %s',
    (reason) => {
      const { ready, components } = figuresOf(undecided(reason));
      expect(ready).toEqual({ isTrue: false, reason, since: SECONDS + 30 });
      const unknown = { state: 'Unknown', since: SECONDS + 30 };
      expect(components).toEqual([
        { name: 'db', ...unknown },
        { name: 'web', ...unknown },
      ]);
    },
  );

  it('a stack is stalled by its spec, and not known to be by what cannot be read', () => {
    expect(figuresOf(undecided(StackReason.InvalidSpec)).stalled).toMatchObject({
      isTrue: true,
      reason: 'InvalidSpec',
    });
    expect(figuresOf(undecided(StackReason.NotRead))).not.toHaveProperty('stalled');
  });
});
