import { expect, it } from 'vitest';
import { objectKindOf } from '../../../api/trafficstack/objectKinds.ts';
import type { ComponentSpec, ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { ObservedObject } from '../model/observation.ts';
import { MANIFEST_HASH } from '../names.ts';
import { mustBeReplaced } from '../render/objects.ts';
import { renderStack } from '../render/stack.ts';
import { at, NOW, stackOf } from '../testing/stacks.ts';
import { exclusiveOf } from './exclusive.ts';
import { planStack } from './plan.ts';

const JOBS = objectKindOf('batch/v1/jobs/Job')!;
const migrate = (image: string): ComponentSpec => ({
  ...{ name: 'migrate', type: 'Objects' },
  objects: {
    namespace: 'shop',
    manifests: [
      { object: { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'migrate' }, spec: { template: { image } } } },
    ],
  },
});
const rendered = (image: string, stack = stackOf([])) => {
  const result = renderStack(stack, {}, [migrate(image)], { countNodes: () => 1, builtIns: [], objectKinds: [JOBS] });
  return 'components' in result ? result.components[0]! : expect.fail(result.problems.join());
};
/** A Job as it was applied for this image, with conditions. */
const job = (image: string, ...types: string[]): KubeObject => ({
  ...rendered(image).objects[0]!.object,
  ...{
    status: { failed: 1, conditions: types.map((type) => ({ type, status: 'True', reason: 'R', message: 'why' })) },
  },
});
/** Plans the component with the image 2. */
function plan(live: KubeObject | undefined, over: Partial<ObservedObject> = {}, status: Partial<ComponentStatus> = {}) {
  const prior = {
    name: 'migrate',
    type: 'Objects' as const,
    state: 'Ready' as const,
    reason: '',
    message: '',
    since: at(0),
  };
  const { revision, objects, variables, spec } = rendered('2');
  const stack: TrafficStack = stackOf([spec], { components: [{ ...prior, revision, ...status }] });
  const [desired] = objects;
  const replaced = mustBeReplaced({ ...desired!, live });
  const object = { ...desired!, live, hash: '', isCurrent: live !== undefined && !replaced, ...over };
  return planStack({
    ...{
      stack,
      components: [{ spec, objects: [object], pods: [], variables, revision }],
      left: [],
      withPods: new Map(),
    },
    now: NOW,
  });
}
const HASH = rendered('2').objects[0]!.object.metadata?.annotations?.[MANIFEST_HASH];

it.each<[why: string, live: KubeObject, state: string, message: string]>([
  ['runs', job('2'), 'Progressing', 'Job shop/migrate is not complete: 0 pods run, and 1 have failed'],
  ['is complete', job('2', 'SuccessCriteriaMet', 'Complete'), 'Ready', '1 of 1 objects are applied'],
  [
    'has failed',
    job('2', 'Failed'),
    'Failed',
    'Job shop/migrate has failed: R: why; to run it again, change its manifest or delete it',
  ],
])('a Job that %s', (_why, live, state, message) => {
  expect(plan(live, {}, { state: 'Progressing' }).statuses).toMatchObject([{ state, message }]);
});

it('is not made again when it is complete and was deleted, and the inventory remembers it', () => {
  const seen = plan(job('2', 'Complete'));
  expect(seen.inventory).toMatchObject([{ objects: [{ kind: 'Job', name: 'migrate', completed: HASH }] }]);
  const gone = plan(undefined, { isCompleted: true, isCurrent: true });
  expect([gone.apply, gone.statuses[0]?.state, gone.inventory]).toEqual([[], 'Ready', seen.inventory]);
});

it('is deleted and made again only for another manifest', () => {
  const old = plan(job('1', 'Complete'));
  expect([old.remove.map(({ live }) => live.metadata?.name), old.apply]).toEqual([['migrate'], []]);
  expect(old.inventory[0]?.objects[0]).not.toHaveProperty('completed');
  const ending = job('1', 'Complete');
  expect(plan({ ...ending, metadata: { ...ending.metadata, deletionTimestamp: new Date(NOW) } }).remove).toEqual([]);
  expect(plan(undefined).apply).toHaveLength(1);
  const { spec, ...others } = job('2', 'Complete') as KubeObject & { spec: object };
  const drifted = { ...others, spec: { ...spec, parallelism: 3 } } as KubeObject;
  expect(plan(drifted).remove).toEqual([]);
});

it('has the same hash with other labels of the operator', () => {
  const stack = stackOf([]);
  const other = rendered('2', { ...stack, metadata: { ...stack.metadata, uid: 'restored' } });
  expect(other.objects[0]?.object.metadata?.annotations?.[MANIFEST_HASH]).toBe(HASH);
});

it('runs again at once if it has failed and was deleted', () => {
  const { statuses, apply } = plan(undefined, {}, { state: 'Failed', reason: 'ObjectFailed' });
  expect([statuses[0]?.state, statuses[0]?.reason, apply.length]).toEqual(['Progressing', 'Applying', 1]);
});

it('is planned whatever its manifest has, which the API server refuses', () => {
  const spec = { template: { spec: { containers: 'none' } } };
  const strange = { ...rendered('2').objects[0]!.object, spec } as KubeObject;
  expect(plan(undefined, { object: strange }).apply).toHaveLength(1);
  expect(plan({ ...strange, ...{ spec: { template: { spec: {} } } } }).statuses).toHaveLength(1);
  expect(exclusiveOf(strange)).toEqual([]);
});
