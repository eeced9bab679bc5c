import type { V1Pod } from '@kubernetes/client-node';
import type { TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../../src/controllers/trafficstack/names.ts';
import type { WatchEvent } from './rawWatch.ts';

/** One version of a pod. */
export type PodEvent = WatchEvent<V1Pod>;

/**
 * Pods of a stack that were created before all pods of a component that theirs depends on had been ready at the same time, one sentence
 * each. Pods with another image are of another revision of the stack: each is created after those with its own image.
 *
 * @param events versions of pods, in the order in which they were stored
 * @param desired number of pods of each component
 */
export function createdEarly(
  { metadata, spec }: Pick<TrafficStack, 'metadata' | 'spec'>,
  events: readonly PodEvent[],
  desired: Readonly<Record<string, number>>,
): string[] {
  const dependencies = new Map(spec.components.map(({ name, dependsOn = [] }) => [name, dependsOn]));
  const progress = new Progress(desired);
  return eventsOf(metadata?.name ?? '', events).flatMap((event) => {
    const { object } = event;
    progress.see(event);
    if (event.type !== 'ADDED') return [];
    const needed = dependencies.get(componentOf(object)) ?? [];
    return needed
      .filter((each) => !progress.wasReady(each, imageOf(object)))
      .map((each) => `${object.metadata?.name} was created before ${each} was ready with ${imageOf(object)}`);
  });
}

/** The versions of pods of a stack. */
export function eventsOf(stack: string, events: readonly PodEvent[]): PodEvent[] {
  return events.filter(({ object }) => object.metadata?.labels?.[STACK_LABEL] === stack);
}

/** Which components have had all their pods ready at the same time, with which image. */
class Progress {
  readonly #desired: Readonly<Record<string, number>>;
  /** UIDs of pods that are ready. */
  readonly #ready = new Map<string, Set<string>>();
  readonly #complete = new Set<string>();

  constructor(desired: Readonly<Record<string, number>>) {
    this.#desired = desired;
  }

  see({ type, object }: PodEvent): void {
    const [component, uid] = [componentOf(object), object.metadata?.uid ?? ''];
    const key = `${component} ${imageOf(object)}`;
    const ready = this.#ready.get(key) ?? new Set();
    if (type !== 'DELETED' && isReady(object)) ready.add(uid);
    else ready.delete(uid);
    this.#ready.set(key, ready);
    if (ready.size >= (this.#desired[component] ?? Infinity)) this.#complete.add(key);
  }

  wasReady(component: string, image: string): boolean {
    return this.#complete.has(`${component} ${image}`);
  }
}

/** The component that a pod is of. */
export function componentOf({ metadata }: V1Pod): string {
  return metadata?.labels?.[COMPONENT_LABEL] ?? '';
}

function imageOf({ spec }: V1Pod): string {
  return spec?.containers[0]?.image ?? '';
}

function isReady({ status }: V1Pod): boolean {
  return (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');
}
