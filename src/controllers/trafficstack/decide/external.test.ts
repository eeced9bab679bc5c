import { describe, expect, it } from 'vitest';
import type { ComponentMode } from '../../../api/trafficstack/terms.ts';
import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { CONFIG_MAPS } from '../../../runtime/client/resources.ts';
import { desiredComponentOf } from '../model/desired.ts';
import type { LeftObject, ObservedComponent } from '../model/observation.ts';
import { at, component, live, NOW, observed, pod, rendered, REVISION, stackOf } from '../testing/stacks.ts';
import { planComponent } from './component.ts';
import { planStack } from './plan.ts';

const spec = (mode: ComponentMode) => component('db', { mode, deadline: '60s' });
/** Its workload as another owner has made it, with so many available pods of two. */
const foreign = (mode: ComponentMode, available: number): ObservedComponent => {
  const own = observed(spec(mode), 'none');
  const others = { kind: 'Deployment', metadata: { name: 'db', namespace: 'shop' }, ...containers('theirs:7') };
  return { ...own, objects: own.objects.map((each) => ({ ...each, live: live(others, available) })) };
};
const containers = (image: string) => ({
  spec: { replicas: 2, template: { spec: { containers: [{ name: 'db', image }] } } },
});
const OWNED = { ownerReferences: [{ uid: 'stack-uid', kind: 'TrafficStack', name: 'main', apiVersion: 'x' }] };
const ofStack = (was: ObservedComponent): ObservedComponent => ({
  ...was,
  objects: was.objects.map((each) => ({
    ...each,
    live: { ...each.live, metadata: { ...each.live?.metadata, ...OWNED } },
  })),
});
const before = (over: Partial<ComponentStatus> = {}): TrafficStack =>
  stackOf([], {
    components: [
      { name: 'db', type: 'Workload', state: 'Progressing', reason: '', message: '', since: at(-70), ...over },
    ],
  });
const READY = { state: 'Ready', revision: REVISION, readyRevision: REVISION, replicas: 2 } as const;
const wasReady = before({ ...READY, mode: 'External' });
const THEIRS = { kind: 'Deployment', namespace: 'shop', name: 'db' };
const usedTheirs = before({ ...READY, mode: 'External', uses: THEIRS });

function plan(db: ObservedComponent, stack = stackOf([])) {
  const { status, apply } = planComponent(db, { stack, before: new Map(), now: NOW, left: [], waves: new Map() });
  const { mode = 'of the stack', state, reason } = status;
  return { is: `${mode}, ${state} (${reason})`, applies: apply.length, status };
}

describe('a workload of another owner', () => {
  it.each<[string, ObservedComponent, TrafficStack | undefined, string, number]>([
    ['External, runs', foreign('External', 2), undefined, 'External, Ready (AllAvailable)', 0],
    ['External, begins', foreign('External', 1), undefined, 'External, Progressing (RollingOut)', 0],
    ['External, is broken', foreign('External', 1), wasReady, 'External, Degraded (PodsUnavailable)', 0],
    [
      'External, is missing',
      observed(spec('External'), 'none'),
      undefined,
      'External, Progressing (ExternalMissing)',
      0,
    ],
    ['External, is gone', observed(spec('External'), 'none'), wasReady, 'External, Degraded (ExternalMissing)', 0],
    [
      'External, too late',
      observed(spec('External'), 'none'),
      before({ mode: 'External', revision: REVISION }),
      'External, Failed (DeadlineExceeded)',
      0,
    ],
    ['Auto, runs', foreign('Auto', 2), undefined, 'External, Ready (AllAvailable)', 0],
    ['Auto, is missing', observed(spec('Auto'), 'none'), undefined, 'of the stack, Progressing (Applying)', 1],
    ['Auto, is gone', observed(spec('Auto'), 'none'), usedTheirs, 'External, Degraded (ExternalMissing)', 0],
    [
      'Auto, is gone, and its template has changed meanwhile',
      observed(spec('Auto'), 'none'),
      before({ ...READY, mode: 'External', revision: 'r0', readyRevision: 'r0', uses: THEIRS }),
      'External, Progressing (ExternalMissing)',
      0,
    ],
    [
      'Auto, another workload was used',
      observed(spec('Auto'), 'none'),
      before({ ...READY, mode: 'External', uses: { ...THEIRS, name: 'other' } }),
      'of the stack, Progressing (Applying)',
      1,
    ],
    ['Managed, is gone', observed(spec('Managed'), 'none'), usedTheirs, 'of the stack, Progressing (Applying)', 1],
    [
      'Auto, of the stack',
      observed(spec('Auto'), { available: 2 }),
      undefined,
      'of the stack, Ready (AllAvailable)',
      1,
    ],
    ['Managed', foreign('Managed', 2), undefined, 'of the stack, Failed (ForeignObject)', 0],
  ])('%s', (_, db, stack, is, applies) => {
    expect(plan(db, stack)).toMatchObject({ is, applies });
  });

  it.each<[string, ObservedComponent, Partial<ComponentStatus>, string]>([
    [
      'External, that was of the stack and begins too late',
      observed(spec('External'), 'none'),
      { revision: REVISION },
      'External, Progressing (ExternalMissing)',
    ],
    [
      'External, that was of the stack and had failed',
      foreign('External', 1),
      { state: 'Failed', revision: REVISION },
      'External, Progressing (RollingOut)',
    ],
    [
      'Auto, that others failed to make ready',
      observed(spec('Auto'), 'none'),
      { mode: 'External', state: 'Failed', revision: REVISION },
      'of the stack, Progressing (Applying)',
    ],
    [
      'Auto, made for one of others that was ready, by an operator that was killed then',
      observed(spec('Auto'), { available: 1 }),
      { ...READY, mode: 'External' },
      'of the stack, Progressing (RollingOut)',
    ],
  ])('begins again with another owner: %s', (_, db, prior, is) => {
    const { status, ...planned } = plan(db, before(prior));
    expect([planned.is, status.since]).toEqual([is, at(0)]);
  });

  it('is not told by the pods that the stack had before, and is not rolled back', () => {
    const old = pod('db-1', { waiting: { reason: 'ErrImagePull', message: '' } });
    const db = { ...foreign('Auto', 1), pods: [old], rolledBackFrom: { revision: 'r0', message: '' } };
    expect(plan(db).status).toMatchObject({
      reason: 'RollingOut',
      message: expect.not.stringContaining('ErrImage') as string,
    });
    expect(plan(db).status.rolledBackFrom).toBeUndefined();
    const { spec: asked } = foreign('External', 1);
    const rolledBack = before({ revision: REVISION, rolledBackFrom: { revision: REVISION, message: '' } });
    const stored = { live: {}, number: 1, revision: 'r0', objects: [] };
    const target = { ...rendered(asked), revision: REVISION };
    const upgrade = { rollback: true };
    expect(desiredComponentOf(target, { stack: rolledBack, upgrade, stored, namespace: 'op' })).toEqual(target);
  });

  it('waits for the removal of a component that the workload is of', () => {
    const was = ofStack(observed(spec('External'), { available: 2 }));
    const db = { ...was, objects: was.objects.map((each) => ({ ...each, heldBy: 'old' })) };
    expect(plan(db).is).toBe('External, Waiting (WaitingForRemoval)');
    const others = foreign('External', 2);
    const labelled = { ...others, objects: others.objects.map((each) => ({ ...each, heldBy: 'old' })) };
    expect(plan(labelled).is).toBe('External, Ready (AllAvailable)');
  });

  it('is ready with older pods if its own strategy leaves them', () => {
    const db = foreign('External', 2);
    const old = { updateStrategy: { type: 'OnDelete' } };
    const all = db.objects.map((each) => {
      const found: KubeObject & { spec?: object; status?: object } = each.live ?? {};
      return {
        ...each,
        live: { ...found, ...{ spec: { ...found.spec, ...old }, status: { ...found.status, updatedReplicas: 1 } } },
      };
    });
    expect(plan({ ...db, objects: all }).is).toBe('External, Ready (AllAvailable)');
  });

  it('needs nothing that it depends on: it runs already', () => {
    const db = foreign('External', 2);
    const waiting = { status: { ...before().status!.components![0]!, name: 'disk' }, what: 'Deployment shop/disk' };
    const around = { stack: stackOf([]), before: new Map([['disk', waiting]]), now: NOW, left: [], waves: new Map() };
    const planned = planComponent({ ...db, spec: { ...db.spec, dependsOn: ['disk'] } }, around);
    expect(planned.status.state).toBe('Ready');
  });

  it('is named with its own image and number of pods', () => {
    const { version, replicas, readyReplicas } = plan(foreign('Auto', 1)).status;
    expect({ version, replicas, readyReplicas }).toEqual({ version: 'theirs:7', replicas: 2, readyReplicas: 1 });
    expect(plan(observed(spec('External'), 'none')).status.message).toContain('Deployment shop/db does not exist');
  });

  it('is named in the status also while it does not exist, with what to do', () => {
    expect(plan(foreign('Auto', 1)).status.uses).toEqual(THEIRS);
    expect(plan(observed(spec('Auto'), 'none'), usedTheirs).status).toMatchObject({
      uses: THEIRS,
      message:
        'Deployment shop/db does not exist: the operator waits for it, and deploys nothing instead; to have its own deployed, set the mode Managed',
    });
    expect(plan(observed(spec('External'), 'none')).status.uses).toBeUndefined();
  });

  it('is stored for no rollback, and is in no inventory', () => {
    const components = [{ ...foreign('External', 2), revisionsIn: 'shop' }];
    const planned = planStack({ stack: stackOf([]), components, left: [], withPods: new Map(), now: NOW });
    expect([planned.store, planned.inventory, planned.apply]).toEqual([[], [], []]);
  });
});

describe('a workload of the stack that is External now', () => {
  const db = ofStack(observed(spec('External'), { available: 2 }));
  const file: LeftObject = {
    component: 'db',
    resource: CONFIG_MAPS,
    live: { kind: 'ConfigMap', metadata: { name: 'db-etc-1', namespace: 'shop', ...OWNED } },
  };

  it('is no longer written, keeps what it needs, and is removed with the stack', () => {
    const inventory = [{ component: 'db', dependsOn: [], objects: [] }];
    const stack = stackOf([], { inventory });
    const planned = planStack({ stack, components: [db], left: [file], withPods: new Map(), now: NOW });
    expect([planned.apply, planned.remove]).toEqual([[], []]);
    expect(planned.inventory.flatMap(({ objects }) => objects.map(({ name }) => name))).toEqual(['db', 'db-etc-1']);
  });
});
