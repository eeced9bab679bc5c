import { describe, expect, it } from 'vitest';
import type { ComponentState } from '../../../../api/trafficstack/terms.ts';
import type {
  ComponentSpec,
  ComponentStatus,
  TrafficStack,
  UpgradeSpec,
} from '../../../../api/trafficstack/trafficStack.ts';
import { desiredComponentOf } from '../../model/desired.ts';
import type { Answer, ObservedComponent, TimedFacts } from '../../model/observation.ts';
import { controllerRevisionOf, storedIn, type StoredRevision } from '../../render/storedRevision.ts';
import { answered, at, component, live, NOW, pod, rendered, seenSince, stackOf } from '../../testing/stacks.ts';
import { planComponent } from '../component.ts';
import type { Blocker } from '../waiting.ts';

const PULL = pod('web-1', { waiting: { reason: 'ImagePullBackOff', message: '' } });
type Over = Partial<ComponentSpec> & { readonly replicas?: number };
const version = (n: number, { replicas, ...over }: Over = {}): ComponentSpec => {
  const podTemplate = { spec: { containers: [{ name: 'web', image: `web:${n}` }] } };
  const workload = { ...component('web').workload, podTemplate, ...(replicas !== undefined && { replicas }) };
  return component('web', { deadline: '60s', dependsOn: ['db'], ...over, workload });
};
const OLD = rendered(version(1));
const NEW = rendered(version(2));
const stored = ({ objects, revision }: Pick<StoredRevision, 'objects' | 'revision'> = OLD): StoredRevision => {
  const found = storedIn(controllerRevisionOf(stackOf([]), { name: 'web', namespace: 'shop', objects, revision }, 1));
  if (found === undefined) throw new Error('what is stored cannot be read');
  return found;
};
const statusOf = (state: ComponentState, over: Partial<ComponentStatus> = {}): ComponentStatus => {
  return {
    name: 'web',
    type: 'Workload',
    state,
    reason: 'X',
    message: '',
    since: at(-60),
    replicas: 2,
    revision: NEW.revision,
    ...over,
  };
};
const FROM = { revision: NEW.revision, version: 'web:2', message: 'not ready within 60s' };
const ROLLED_BACK = statusOf('Failed', { reason: 'RolledBack', revision: OLD.revision, rolledBackFrom: FROM });

interface Scene {
  readonly spec?: ComponentSpec;
  readonly prior?: ComponentStatus;
  readonly stored?: StoredRevision | undefined;
  readonly upgrade?: UpgradeSpec;
  readonly answer?: Answer;
  /** Default: its pods are available since its query was asked. */
  readonly seen?: TimedFacts | undefined;
  /** Whether the live objects are the objects that the component should have now. */
  readonly isCurrent?: boolean;
  readonly available?: number;
  readonly dependency?: ComponentState;
}

/** The decision about web. */
function plan(scene: Scene) {
  const { spec = version(2), prior = statusOf('Progressing'), upgrade = { rollback: true }, isCurrent = true } = scene;
  const stack: TrafficStack = stackOf([spec], { components: [prior] });
  const last = 'stored' in scene ? scene.stored : stored();
  const target = desiredComponentOf(rendered(spec), { stack, upgrade, stored: last, namespace: 'op' });
  const objects = target.objects.map((each) => ({
    ...each,
    hash: '',
    live: live(each.object, scene.available ?? 1),
    isCurrent,
  }));
  const pods = (scene.available ?? 1) < 2 ? [PULL] : [];
  const seen: ObservedComponent = { ...target, objects, pods, ...(scene.answer && { answer: scene.answer }) };
  const db: Blocker = { status: { ...statusOf(scene.dependency ?? 'Ready'), name: 'db' }, what: 'StatefulSet shop/db' };
  const { status, apply, deadlineAt } = planComponent(seen, {
    stack,
    left: [],
    waves: new Map(),
    before: new Map([['db', db]]),
    seen: scene.seen ?? seenSince(0, 'web'),
    now: NOW,
  });
  return { ...status, applies: apply.map(({ object }) => imageIn(object)), deadlineAt };
}

function imageIn(object: object): string | undefined {
  return /"image":"([^"]+)"/.exec(JSON.stringify(object))?.[1];
}

describe('a changed component that misses its deadline', () => {
  it('is to be rolled back, which the status says first, with what was observed', () => {
    const message =
      'not ready within 60s: Deployment shop/web: 1 of 2 pods are available; pod shop/web-1, container web: ImagePullBackOff';
    expect(plan({})).toMatchObject({
      ...{ state: 'Failed', reason: 'RollingBack', revision: NEW.revision, message, since: at(0) },
      rolledBackFrom: { revision: NEW.revision, version: 'web:2', message },
      // At once.
      deadlineAt: NOW,
    });
  });

  it.each<[string, Scene]>([
    ['before its deadline', { prior: statusOf('Progressing', { since: at(-59) }) }],
    ['when it is ready', { available: 2 }],
    ['that was never ready', { stored: undefined }],
    ['that was ready with this very spec', { stored: stored(NEW) }],
    [
      'with the objects of its last ready revision, such as after another deadline',
      { stored: stored({ ...NEW, revision: 'r0' }) },
    ],
    ['whose stack has no rollback', { upgrade: {} }],
    ['that has none itself', { spec: version(2, { rollback: false }) }],
    ['with another number of pods', { stored: stored(rendered(version(2, { replicas: 5 }))) }],
    ['that waits', { prior: statusOf('Waiting'), isCurrent: false, dependency: 'Progressing' }],
  ])('is not: %s', (_, scene) => {
    expect(plan(scene).rolledBackFrom).toBeUndefined();
  });

  it('is when its query is asked', () => {
    const spec = version(2, { ready: { query: 'up' } });
    const prior = statusOf('Failed', { reason: 'DeadlineExceeded', revision: rendered(spec).revision });
    const scene = { spec, prior, available: 2 };
    expect(plan({ ...scene, answer: { is: 'Pending' } })).toMatchObject({
      state: 'Failed',
      reason: 'DeadlineExceeded',
    });
    const isFalse = answered({ is: 'False', message: 'gives 0' });
    expect(plan({ ...scene, answer: isFalse })).toMatchObject({ reason: 'RollingBack' });
    expect(plan({ ...scene, answer: answered({ is: 'True' }) })).toMatchObject({ state: 'Ready' });
    // Until it is asked about these pods.
    const late = { ...scene, answer: isFalse, seen: seenSince(1, 'web') };
    expect(plan(late)).toMatchObject({ state: 'Failed', reason: 'DeadlineExceeded' });
    expect(plan({ ...late, available: 1 })).toMatchObject({ reason: 'RollingBack' });
  });

  it('is not while a setting keeps its query from being sent, unless its pods are not available', () => {
    const spec = version(2, { ready: { query: 'up' } });
    const prior = statusOf('Progressing', { revision: rendered(spec).revision });
    const notSent = answered({ is: 'Unknown', message: 'name its namespace in discovery.namespaces', isNotSent: true });
    const scene = { spec, prior, available: 2, answer: notSent };
    const planned = plan(scene);
    expect(planned).toMatchObject({ state: 'Failed', reason: 'DeadlineExceeded' });
    expect(planned.rolledBackFrom).toBeUndefined();
    expect(planned.message).toContain('name its namespace in discovery.namespaces');
    expect(plan({ ...scene, available: 1 })).toMatchObject({ reason: 'RollingBack' });
    const unanswered = answered({ is: 'Unknown', message: 'connection refused' });
    expect(plan({ ...scene, answer: unanswered })).toMatchObject({ reason: 'RollingBack' });
  });

  it('is also if its objects could not be written', () => {
    expect(plan({ isCurrent: false, prior: statusOf('Failed', { reason: 'WriteFailed' }) })).toMatchObject({
      reason: 'RollingBack',
    });
  });
});

describe('a component that is rolled back', () => {
  it.each<[string, Scene, string, string]>([
    [
      'its objects are to be written',
      { isCurrent: false },
      'RollingBack',
      'rolling back to revision R: to change: Deployment shop/web',
    ],
    [
      'its pods are not available',
      {},
      'RollingBack',
      'rolling back to revision R: Deployment shop/web: 1 of 2 pods are available; pod shop/web-1, container web: ImagePullBackOff',
    ],
    [
      'its pods are available',
      { available: 2 },
      'RolledBack',
      'rolled back to revision R: Deployment shop/web: 2 of 2 pods are available',
    ],
    [
      'its dependencies are not ready',
      { isCurrent: false, dependency: 'Failed' },
      'RollingBack',
      'rolling back to revision R: to change: Deployment shop/web',
    ],
    [
      'the condition of the failed revision is false',
      { spec: version(2, { ready: { expression: 'false' } }), available: 2 },
      'RolledBack',
      'rolled back to revision R: Deployment shop/web: 2 of 2 pods are available',
    ],
  ])('%s', (_, scene, reason, told) => {
    const from = { ...FROM, revision: rendered(scene.spec ?? version(2)).revision };
    const message = `${told.replace('R:', `${OLD.revision}:`)}; revision ${from.revision} failed: not ready within 60s`;
    expect(plan({ ...scene, prior: { ...ROLLED_BACK, rolledBackFrom: from } })).toMatchObject({
      ...{ state: 'Failed', reason, message, applies: ['web:1'], version: 'web:1', deadlineAt: undefined },
      ...{ revision: OLD.revision, rolledBackFrom: from, since: at(-60) },
    });
  });

  it('is left as it is while what is to be restored is gone', () => {
    expect(plan({ prior: ROLLED_BACK, stored: undefined, isCurrent: false })).toMatchObject({
      ...{ state: 'Failed', reason: 'RevisionMissing', applies: [], rolledBackFrom: FROM },
    });
  });

  it.each<[string, Scene, string]>([
    ['another spec', { spec: version(3) }, 'web:3'],
    ['another deadline', { spec: version(2, { deadline: '2m' }) }, 'web:2'],
    ['the spec of the last ready revision', { spec: version(1) }, 'web:1'],
    ['rollback switched off', { upgrade: { rollback: false } }, 'web:2'],
  ])('goes on with %s', (_, scene, image) => {
    const planned = plan({ ...scene, prior: ROLLED_BACK, isCurrent: false });
    expect(planned).toMatchObject({ state: 'Progressing', reason: 'Applying', applies: [image], since: at(0) });
    expect(planned.rolledBackFrom).toBeUndefined();
  });
});

it('is Ready at once if its spec is the spec of the restored revision', () => {
  expect(plan({ spec: version(1), prior: ROLLED_BACK, available: 2 })).toMatchObject({ state: 'Ready' });
});

it('whose rollback began before it was switched off has a new deadline', () => {
  const prior = statusOf('Failed', { reason: 'RollingBack', rolledBackFrom: FROM });
  expect(plan({ prior, upgrade: {} })).toMatchObject({ state: 'Progressing', since: at(0), deadlineAt: NOW + 60_000 });
});
