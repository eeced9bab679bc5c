import type { TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import type { InformerEvent } from '../../runtime/cache/informer.ts';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import type { WorkQueue } from '../../runtime/controller/workqueue.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import { STACK_LABEL } from './names.ts';

/** Least time between two reconciles of a stack because of objects that only have its label, or of its pods. ms */
const INTERVAL_MS = 1_000;

interface Options {
  readonly queue: Pick<WorkQueue, 'add' | 'addAfter'>;
  readonly clock: Pick<Clock, 'monotonic'>;
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
  /** When a stack was, or is to be, enqueued last: monotonic ms, by name. */
  readonly #latest = new Map<string, number>();
  /** The objects of each inventory, so that an event does not read the whole inventory. */
  readonly #known = new WeakMap<object, ReadonlySet<string>>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Takes an event of a pod, or of a kind that stacks have objects of. */
  take({ kind }: Pick<Resource, 'kind'>, event: InformerEvent<KubeObject>): void {
    const { queue, stackOf } = this.#options;
    for (const { metadata = {} } of statesOf(event)) {
      const { labels, namespace = '', name } = metadata;
      const stackName = labels?.[STACK_LABEL] ?? '';
      const stack = stackName === '' ? undefined : stackOf(stackName);
      if (stack === undefined) this.#latest.delete(stackName);
      else if (this.#isKnown(stack, `${kind} ${namespace}/${name}`)) queue.add(stackName);
      else this.#enqueueSoon(stackName);
    }
  }

  /**
   * Enqueues a stack at once, or when the interval after the last time is over. Asks the queue again until then: the queue forgets a delay when
   * it has an earlier one for the same stack, whose reconcile sees nothing of later events.
   */
  #enqueueSoon(name: string): void {
    const { queue, clock } = this.#options;
    const now = clock.monotonic();
    const latest = this.#latest.get(name) ?? -Infinity;
    const next = latest > now ? latest : Math.max(now, latest + INTERVAL_MS);
    this.#latest.set(name, next);
    queue.addAfter(name, next - now);
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
