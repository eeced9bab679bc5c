import { ComponentReason as Reason } from '../../../../api/trafficstack/reasons.ts';
import { USER_TYPES } from '../../../../api/trafficstack/terms.ts';
import type { ComponentStatus, TrafficStack, UsedObject } from '../../../../api/trafficstack/trafficStack.ts';
import { NODES } from '../../../../runtime/client/resources.ts';
import { idFor, idOf } from '../../../../runtime/objectSet/objectSet.ts';
import type { ListeningNodes, ObservedComponent } from '../../observe/observation.ts';
import { isOfStack } from '../../render/objects.ts';

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
  const { awaited, listening, problem } = external ?? {};
  const state = wasReady ? 'Degraded' : 'Progressing';
  if (awaited !== undefined) {
    const reason = awaited.isGone ? Reason.ExternalMissing : Reason.ExternalUnusable;
    return { state, reason, message: awaited.message };
  }
  if (listening !== undefined)
    return problem === undefined ? undefined : { state, reason: Reason.ExternalUnusable, message: problem };
  if (workload?.live === undefined) {
    const what = external?.sought ?? (workload && idOf(workload));
    const message = `${what} does not exist: with the mode External, another owner creates it`;
    return { state, reason: Reason.ExternalMissing, message };
  }
  if (problem === undefined) return undefined;
  return { state, reason: Reason.ExternalUnusable, message: `${idOf(workload)} ${problem}` };
}

/**
 * Which workload or Service of somebody else a built-in component uses, or the first node with a program that it uses. What does not answer
 * for a while, or is gone for a while, is used all the same.
 *
 * @param before what it has used until now
 */
export function usesOf({ objects, external }: ObservedComponent, before?: UsedObject): Pick<ComponentStatus, 'uses'> {
  if (external?.awaited !== undefined) {
    const { uses } = external.awaited;
    return uses === undefined ? {} : { uses };
  }
  if (external?.listening !== undefined) return { uses: nodeOf(external.listening, before) };
  const workload = objects.at(-1);
  if (external === undefined || workload === undefined) return {};
  if (external.problem !== undefined && external.asked === undefined) return {};
  const { namespace = '', name = '' } = workload.object.metadata ?? {};
  const { url } = external.asked ?? {};
  return { uses: { kind: workload.resource.kind, namespace, name, ...(url !== undefined && { url }) } };
}

/**
 * Whether a built-in component uses what it used when it was ready. Another spec of the component, as after an upgrade of the operator, is none of
 * that.
 */
export function usesTheSame(component: ObservedComponent, prior: ComponentStatus | undefined): boolean {
  if (prior?.uses === undefined || prior.readyRevision === undefined) return false;
  const { uses } = usesOf(component, prior.uses);
  return uses !== undefined && idFor(uses, uses) === idFor(prior.uses, prior.uses);
}

/** The one that was named before, for as long as it answers, or none does. */
function nodeOf({ answering: [first = '', ...others] }: ListeningNodes, before: UsedObject | undefined): UsedObject {
  const isKept = before?.kind === NODES.kind && (first === '' || [first, ...others].includes(before.name));
  return isKept ? before : { kind: NODES.kind, namespace: '', name: first };
}

/** What a server has, or on how many nodes a program answers. Undefined for a component that uses neither. */
export function answerText({ objects, external }: ObservedComponent): string | undefined {
  const server = objects.at(-1);
  const { asked, listening } = external ?? {};
  if (listening !== undefined) {
    const { port, asked: of, answering } = listening;
    return `what listens on the port ${port} of the nodes: ${answering.length} of ${of} nodes that were asked answer`;
  }
  if (server === undefined || asked === undefined) return undefined;
  return `${idOf(server)}: ${asked.url} has ${asked.series}`;
}
