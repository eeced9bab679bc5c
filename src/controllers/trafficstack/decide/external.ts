import { ComponentReason as Reason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { idOf } from '../../../runtime/objectSet/member.ts';
import type { ObservedComponent } from '../observe/observation.ts';
import { isOfStack } from '../render/objects.ts';

/**
 * Whether the workload or TrafficWeight of a component is used as it is, and not written:
 *
 * | mode     | the workload             | external |
 * |----------|--------------------------|----------|
 * | External | any                      | yes      |
 * | Auto     | is somebody else's       | yes      |
 * | Auto     | is the stack's, or missing | no     |
 * | Managed  | any                      | no       |
 */
export function isExternal({ spec: { mode }, objects }: ObservedComponent, stack: TrafficStack): boolean {
  return mode === 'External' || (mode === 'Auto' && isOfOthers({ objects }, stack));
}

/** Whether the workload of a component exists, and somebody else has made it. */
export function isOfOthers({ objects }: Pick<ObservedComponent, 'objects'>, stack: TrafficStack): boolean {
  const live = objects.at(-1)?.live;
  return live !== undefined && !isOfStack(live, stack);
}

/**
 * The status of a component as it was before. Undefined if its workload was somebody else's and is not now, or the other way round: that
 * the one was ready or has failed says nothing about the other, also if the spec is the same.
 */
export function priorOf(component: ObservedComponent, stack: TrafficStack): ComponentStatus | undefined {
  const prior = stack.status?.components?.find(({ name }) => name === component.spec.name);
  return (prior?.mode === 'External') === isExternal(component, stack) ? prior : undefined;
}

/** The state of a component whose workload somebody else should make, and has not. */
export function missingState(
  { objects }: ObservedComponent,
  wasReady: boolean,
): Pick<ComponentStatus, 'state' | 'reason' | 'message'> | undefined {
  const workload = objects.at(-1);
  if (workload === undefined || workload.live !== undefined) return undefined;
  const message = `${idOf(workload)} does not exist: with the mode External, somebody else makes it`;
  return { state: wasReady ? 'Degraded' : 'Progressing', reason: Reason.ExternalMissing, message };
}
