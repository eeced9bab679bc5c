import type { TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import type { InformerEvent } from '../../runtime/cache/informer.ts';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import type { PacedQueue, WorkQueue } from '../../runtime/controller/workqueue.ts';
import { STACK_LABEL } from './names.ts';

interface Options {
  readonly queue: Pick<WorkQueue, 'add'>;
  /** Adds to the same queue. */
  readonly paced: Pick<PacedQueue, 'add'>;
  /** Returns the stack of a name; undefined if there is none. */
  readonly stackOf: (name: string) => TrafficStack | undefined;
}

/**
 * Enqueues the stacks that objects with the label of a stack belong to. Every user of a namespace may set that label, and change it a thousand times
 * a second, so it is not enough:
 *
 * | an event of                                         | enqueues its stack                            |
 * |-----------------------------------------------------|-----------------------------------------------|
 * | an object in the inventory of the stack             | at once                                       |
 * | another object, such as a pod                       | at once, then at most once a second           |
 * | anything whose label names no stack                 | never                                         |
 *
 * The workload of a pod is not looked for: while a stack is being removed, pods end after their workload is gone.
 */
export class LabelledEvents {
  readonly #options: Options;
  /** The objects of each inventory, so that an event does not read the whole inventory. */
  readonly #known = new WeakMap<object, ReadonlySet<string>>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Takes an event of a pod, or of a kind that stacks have objects of. */
  take({ kind }: Pick<Resource, 'kind'>, event: InformerEvent<KubeObject>): void {
    const { queue, paced, stackOf } = this.#options;
    for (const { metadata = {} } of statesOf(event)) {
      const { labels, namespace = '', name } = metadata;
      const stackName = labels?.[STACK_LABEL] ?? '';
      const stack = stackName === '' ? undefined : stackOf(stackName);
      if (stack === undefined) continue;
      if (this.#isKnown(stack, `${kind} ${namespace}/${name}`)) queue.add(stackName);
      else paced.add(stackName);
    }
  }

  #isKnown({ status }: TrafficStack, id: string): boolean {
    const inventory = status?.inventory ?? [];
    let known = this.#known.get(inventory);
    if (known === undefined) {
      known = new Set(
        inventory.flatMap(({ objects }) => objects.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`)),
      );
      this.#known.set(inventory, known);
    }
    return known.has(id);
  }
}

/** An object as it is, and as it was: its label may have changed. */
function statesOf(event: InformerEvent<KubeObject>): KubeObject[] {
  return event.type === 'update' && event.old !== undefined ? [event.old, event.object] : [event.object];
}
