import { isDeepStrictEqual } from 'node:util';
import type { TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import { labelOf, type CachedNode } from '../../nodes/cachedNode.ts';
import { bodyChanged } from '../../runtime/cache/bodyBudget.ts';
import type { Informer, InformerEvent } from '../../runtime/cache/informer.ts';
import type { Overlay } from '../../runtime/cache/overlay.ts';
import { keyOf, sameSpec, type KubeObject, type Resource } from '../../runtime/client/resource.ts';
import { PODS } from '../../runtime/client/resources.ts';
import type { PacedQueue, WorkQueue } from '../../runtime/controller/workqueue.ts';
import { STACK_LABEL } from './names.ts';
import type { Caches } from './observe/caches.ts';

interface Watched {
  readonly cache: Pick<Informer<TrafficStack>, 'lister' | 'subscribe'>;
  readonly stacks: Pick<Overlay<TrafficStack>, 'get'>;
  readonly caches: Caches;
  readonly nodes: Pick<Informer<CachedNode>, 'subscribe'>;
  readonly queue: Pick<WorkQueue, 'add'>;
  /** Adds to the same queue. */
  readonly paced: Pick<PacedQueue, 'add'>;
}

/** Enqueues stacks when they, their objects, their pods or the nodes change. */
export function enqueueOnEvents({ cache, stacks, caches, nodes, queue, paced }: Watched): void {
  cache.subscribe((event) => {
    const isStatusOnly = event.type === 'update' && sameSpec(event.old, event.object) && !bodyChanged(event);
    if (!isStatusOnly) queue.add(keyOf(event.object));
  });
  const labelled = new LabelledEvents({ queue, paced, stackOf: (name) => stacks.get(name) });
  for (const { informer, resource } of caches.kinds) informer.subscribe((event) => labelled.take(resource, event));
  caches.pods.subscribe((event) => labelled.take(PODS, event));
  nodes.subscribe((event) => {
    const counting = mayChangeCount(event) ? cache.lister.list().filter(countsNodes) : [];
    for (const stack of counting) queue.add(keyOf(stack));
    if (mayChangePods(event)) for (const name of stacksOn(event.object, caches)) queue.add(name);
  });
}

interface Options {
  readonly queue: Pick<WorkQueue, 'add'>;
  /** Adds to the same queue. */
  readonly paced: Pick<PacedQueue, 'add'>;
  /** Returns the stack of a name; undefined if there is none. */
  readonly stackOf: (name: string) => TrafficStack | undefined;
}

/**
 * Enqueues the stacks that own labelled objects. Every user of a namespace may set the label, and change it a thousand times a second:
 *
 * | an event of                                         | enqueues its stack                            |
 * |-----------------------------------------------------|-----------------------------------------------|
 * | an object in the inventory of the stack             | at once                                       |
 * | another object, such as a pod                       | at once, then at most once a second           |
 * | anything whose label names no stack                 | never                                         |
 *
 * Pods are not matched with their workload: while a stack is being removed, pods end after their workload.
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

/** Returns the object before and after an update, since its label may have changed. */
function statesOf(event: InformerEvent<KubeObject>): KubeObject[] {
  return event.type === 'update' && event.old !== undefined ? [event.old, event.object] : [event.object];
}

/** Counts the nodes with these labels. Nodes that are not Ready count, so that a short outage changes nothing. */
export function countNodesWith(nodes: readonly CachedNode[], nodeSelector: Readonly<Record<string, string>>): number {
  const labels = Object.entries(nodeSelector);
  return nodes.filter((node) => labels.every(([key, value]) => labelOf(node, key) === value)).length;
}

/** Returns whether the size of a stack depends on the number of nodes. */
export function countsNodes({ spec }: TrafficStack): boolean {
  // An older CRD may have accepted anything.
  const availability = (spec as Partial<TrafficStack['spec']> | undefined)?.highAvailability;
  return availability !== undefined && availability.replicas === undefined;
}

/** Returns whether an event may change that number. */
export function mayChangeCount(event: InformerEvent<CachedNode>): boolean {
  if (event.type !== 'update' || event.old === undefined) return true;
  const labelsOf = ({ labels, otherLabels, hostname }: CachedNode) => [labels, otherLabels, hostname];
  return !isDeepStrictEqual(labelsOf(event.old), labelsOf(event.object));
}

/** Returns whether the readiness of a Node has changed. */
export function mayChangePods(event: InformerEvent<CachedNode>): boolean {
  const before = event.type === 'update' ? event.old?.notReadySince : undefined;
  return before !== event.object.notReadySince;
}

/** Returns the names of the stacks with pods on a node. */
function stacksOn({ name }: CachedNode, { pods }: Pick<Caches, 'pods'>): string[] {
  const here = pods.lister.list().filter(({ nodeName }) => nodeName === name);
  return here.flatMap(({ metadata }) => metadata?.labels?.[STACK_LABEL] ?? []);
}
