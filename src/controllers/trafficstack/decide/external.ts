import { ComponentReason as Reason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { idOf } from '../../../runtime/objectSet/member.ts';
import type { ObservedComponent } from '../observe/observation.ts';
import { isOfStack } from '../render/objects.ts';

/**
 * Whether the workload of a component is used as it is, and not written:
 *
 * | mode     | the workload             | external |
 * |----------|--------------------------|----------|
 * | External | any                      | yes      |
 * | Auto     | is somebody else's       | yes      |
 * | Auto     | is the stack's, or missing | no     |
 * | Managed  | any                      | no       |
 */
export function isExternal({ spec: { mode }, objects }: ObservedComponent, stack: TrafficStack): boolean {
  if (mode === 'External') return true;
  const live = objects.at(-1)?.live;
  return mode === 'Auto' && live !== undefined && !isOfStack(live, stack);
}

/** The state of a component whose workload somebody else should make, and has not. */
export function missingState(
  { objects }: ObservedComponent,
  wasReady: boolean,
): Pick<ComponentStatus, 'state' | 'reason' | 'message'> | undefined {
  const workload = objects.at(-1);
  if (workload === undefined || workload.live !== undefined) return undefined;
  const message = `${idOf(workload)} does not exist, and is not of this stack: the mode is External`;
  return { state: wasReady ? 'Degraded' : 'Progressing', reason: Reason.ExternalMissing, message };
}
