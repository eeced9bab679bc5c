import { ComponentReason as Reason } from '../../../api/trafficstack/reasons.ts';
import { USER_TYPES } from '../../../api/trafficstack/terms.ts';
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
 *
 * For another type, standIn.ts says the same.
 */
export function isExternal({ spec, objects, external }: ObservedComponent, stack: TrafficStack): boolean {
  if (!USER_TYPES.includes(spec.type)) return external !== undefined;
  return spec.mode === 'External' || (spec.mode === 'Auto' && isOfOthers({ objects }, stack));
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

/** The state of a component whose workload somebody else should make, and has not, or has made such that it is of no use. */
export function missingState(
  { objects, external }: ObservedComponent,
  wasReady: boolean,
): Pick<ComponentStatus, 'state' | 'reason' | 'message'> | undefined {
  const workload = objects.at(-1);
  const state = wasReady ? 'Degraded' : 'Progressing';
  if (workload?.live === undefined) {
    const what = external?.sought ?? (workload && idOf(workload));
    const message = `${what} does not exist: with the mode External, somebody else makes it`;
    return { state, reason: Reason.ExternalMissing, message };
  }
  if (external?.problem === undefined) return undefined;
  return { state, reason: Reason.ExternalUnusable, message: `${idOf(workload)} ${external.problem}` };
}

/** Which workload or Service of somebody else a built-in component uses. A server that does not answer for a while is used all the same. */
export function usesOf({ objects, external }: ObservedComponent): Pick<ComponentStatus, 'uses'> {
  const workload = objects.at(-1);
  if (external === undefined || workload === undefined) return {};
  if (external.problem !== undefined && external.asked === undefined) return {};
  const { namespace = '', name = '' } = workload.object.metadata ?? {};
  const { url } = external.asked ?? {};
  return { uses: { kind: workload.resource.kind, namespace, name, ...(url !== undefined && { url }) } };
}
