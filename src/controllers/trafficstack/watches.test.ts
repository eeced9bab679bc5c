import { expect, it } from 'vitest';
import type { TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import { CONFIG_MAPS, DEPLOYMENTS, PODS } from '../../runtime/client/resources.ts';
import { PacedQueue, WorkQueue } from '../../runtime/controller/workqueue.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import type { StackPod } from './model/observation.ts';
import { STACK_LABEL } from './names.ts';
import { trimPod } from './observe/stackPod.ts';
import { stackOf } from './testing/stacks.ts';
import { LabelledEvents } from './watches.ts';

const OBJECTS = [{ kind: 'Deployment', namespace: 'shop', name: 'web' }];
const STACK: TrafficStack = stackOf([], { inventory: [{ component: 'web', dependsOn: [], objects: OBJECTS }] });
const NAME = STACK.metadata!.name!;

/** Events of one second, one each millisecond. */
const FLIPS = 1_000;

class Scene {
  readonly clock = new FakeClock();
  readonly queue = new WorkQueue({ clock: this.clock });
  readonly events = new LabelledEvents({
    ...{ queue: this.queue, paced: new PacedQueue(this.queue, this.clock) },
    stackOf: (name) => (name === NAME ? STACK : undefined),
  });

  /** The reconciles of the time that one event each millisecond takes, and of the second after it. */
  async reconcilesOf(send: (events: LabelledEvents) => void): Promise<number> {
    let reconciles = 0;
    for (let ms = 0; ms < 2 * FLIPS; ms++) {
      if (ms < FLIPS) send(this.events);
      reconciles += await this.reconcile();
      await this.clock.advance(1);
    }
    return reconciles;
  }

  async reconcile(): Promise<number> {
    if (this.queue.length === 0) return 0;
    const key = (await this.queue.get(new AbortController().signal))!;
    expect(key).toBe(NAME);
    this.queue.done(key);
    return 1;
  }
}

function podIn(namespace: string, owner: string, stack = NAME): StackPod {
  const labels = { [STACK_LABEL]: stack, 'pod-template-hash': '5d' };
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${owner}-5d`, uid: 'u', controller: true },
  ];
  return trimPod({ metadata: { namespace, name: 'a', labels, ownerReferences } });
}
const object = (namespace: string, name: string): KubeObject => ({
  metadata: { namespace, name, labels: { [STACK_LABEL]: NAME } },
});
const ofPod = (pod: StackPod) => (events: LabelledEvents) =>
  events.take(PODS, { type: 'update', object: pod, old: pod });

it.each([
  ['a pod of the stack: the first at once, the others together', ofPod(podIn('shop', 'web')), 2],
  ['a pod of a workload that is not, or no longer, in the inventory', ofPod(podIn('shop', 'removed')), 2],
  ['a pod whose label names no stack', ofPod(podIn('shop', 'web', 'none')), 0],
  [
    'a pod that loses the label and gets it back',
    (events: LabelledEvents) =>
      events.take(PODS, { type: 'update', old: podIn('shop', 'web'), object: podIn('shop', 'web', '') }),
    2,
  ],
  [
    'an object of the stack, each of which may be a change to correct',
    (events: LabelledEvents) => events.take(DEPLOYMENTS, { type: 'update', object: object('shop', 'web') }),
    FLIPS,
  ],
  [
    'another kind of the same name',
    (events: LabelledEvents) => events.take(CONFIG_MAPS, { type: 'update', object: object('shop', 'web') }),
    2,
  ],
  [
    'an object that only has the label',
    (events: LabelledEvents) => events.take(DEPLOYMENTS, { type: 'delete', object: object('evil', 'web') }),
    2,
  ],
])('1,000 events a second of %s', async (_, send, reconciles) => {
  expect(await new Scene().reconcilesOf(send)).toBe(reconciles);
});

it('an event after a quiet second is reconciled at once, however many came before', async () => {
  const scene = new Scene();
  expect(await scene.reconcilesOf(ofPod(podIn('shop', 'web')))).toBe(2);
  ofPod(podIn('shop', 'web'))(scene.events);
  expect(scene.queue.length).toBe(1);
});
