import { ComponentReason as Reason } from '../../../../api/trafficstack/reasons.ts';
import { USER_TYPES } from '../../../../api/trafficstack/terms.ts';
import type {
  ComponentSpec,
  ComponentStatus,
  TrafficStack,
  UsedObject,
} from '../../../../api/trafficstack/trafficStack.ts';
import { NODES } from '../../../../runtime/client/resources.ts';
import { idFor, idOf } from '../../../../runtime/objectSet/objectSet.ts';
import type { ListeningNodes, ObservedComponent, ObservedExternal, ObservedObject } from '../../observe/observation.ts';
import { isOfStack } from '../../render/objects.ts';

/**
 * Whether the workload or TrafficWeight of a component is used as it is, and not written:
 *
 * | mode     | the workload             | external |
 * |----------|--------------------------|----------|
 * | External | any                      | yes      |
 * | Auto     | is somebody else's       | yes      |
 * | Auto     | is missing, and was used until now, as the status says | yes: the component waits for it |
 * | Auto     | is the stack's, or missing otherwise | no |
 * | Managed  | any                      | no       |
 *
 * For another type, standIn.ts says the same.
 */
export function isExternal({ spec, objects, external }: ObservedComponent, stack: TrafficStack): boolean {
  if (!USER_TYPES.includes(spec.type)) return external !== undefined;
  if (spec.mode !== 'Auto') return spec.mode === 'External';
  return isOfOthers({ objects }, stack) || isMissed({ spec, objects }, stack);
}

/** Whether the workload of a component does not exist, and the component used it until now. An empty one of the stack would be in its way. */
function isMissed({ spec, objects }: Pick<ObservedComponent, 'spec' | 'objects'>, { status }: TrafficStack): boolean {
  const workload = objects.at(-1);
  const uses = status?.components?.find(({ name }) => name === spec.name)?.uses;
  if (workload === undefined || uses === undefined || workload.live !== undefined) return false;
  return idFor(uses, uses) === idOf(workload);
}

/** Names the workload or TrafficWeight of another owner that a component of a user type uses, also while it does not exist. */
export function usesOfUser(component: ObservedComponent, stack: TrafficStack): Pick<ComponentStatus, 'uses'> {
  const workload = component.objects.at(-1);
  if (workload === undefined || !(isOfOthers(component, stack) || isMissed(component, stack))) return {};
  const { namespace = '', name = '' } = workload.object.metadata ?? {};
  return { uses: { kind: workload.resource.kind, namespace, name } };
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
  { spec, objects, external }: ObservedComponent,
  wasReady: boolean,
): Pick<ComponentStatus, 'state' | 'reason' | 'message'> | undefined {
  const workload = objects.at(-1);
  const { awaited, listening, problem, named, asked, sought } = external ?? {};
  const state = wasReady ? 'Degraded' : 'Progressing';
  const unusable = (message: string) => ({ state, reason: Reason.ExternalUnusable, message }) as const;
  if (awaited !== undefined) return unusable(awaited);
  if (listening !== undefined) return problem === undefined ? undefined : unusable(problem);
  const what = workload === undefined ? (asked?.url ?? sought) : idOf(workload);
  if (problem !== undefined) return unusable(`${what} ${problem}`);
  if (workload?.live !== undefined || asked !== undefined) return undefined;
  return { state, reason: Reason.ExternalMissing, message: `${what} does not exist: ${adviceFor(spec, named)}` };
}

/** Advice about an object that does not exist. */
function adviceFor({ type, mode }: ComponentSpec, named: UsedObject | undefined): string {
  const isOfUser = USER_TYPES.includes(type);
  if (isOfUser ? mode === 'External' : named === undefined) return 'with the mode External, another owner creates it';
  const again =
    named?.fromSpec === true
      ? 'to search again, set the mode Auto and remove external'
      : 'to use another object, set the mode External and external';
  const others = isOfUser ? '' : `${again}; `;
  return `the operator waits for it, and deploys nothing instead; ${others}to have its own deployed, set the mode Managed`;
}

/**
 * Which workload or Service of another owner a built-in component uses, or the first node with a program that it uses. A named object is used
 * also while it does not answer or does not exist.
 *
 * @param before what it has used until now
 */
export function usesOf({ objects, external }: ObservedComponent, before?: UsedObject): Pick<ComponentStatus, 'uses'> {
  const uses = external === undefined ? undefined : usedIn(external, objects.at(-1), before);
  return uses === undefined ? {} : { uses };
}

function usedIn(
  { awaited, listening, problem, named, asked }: ObservedExternal,
  object: ObservedObject | undefined,
  before: UsedObject | undefined,
): UsedObject | undefined {
  const mark = named?.fromSpec === true ? ({ fromSpec: true } as const) : {};
  if (awaited !== undefined) return undefined;
  if (listening !== undefined) return { ...nodeOf(listening, before), ...mark };
  const isUsed = object?.live !== undefined && (problem === undefined || asked !== undefined);
  if (!isUsed) return named;
  const { namespace = '', name = '' } = object.object.metadata ?? {};
  return { kind: object.resource.kind, namespace, name, ...(asked && { url: asked.url }), ...mark };
}

/**
 * Whether a built-in component uses what it used when it was ready. Another spec of the component, as after an upgrade of the operator, is none of
 * that.
 */
export function usesTheSame(component: ObservedComponent, prior: ComponentStatus | undefined): boolean {
  const isKnown = component.external !== undefined && prior?.readyRevision !== undefined;
  if (!isKnown || prior.uses === undefined) return false;
  const { uses } = usesOf(component, prior.uses);
  return uses !== undefined && idFor(uses, uses) === idFor(prior.uses, prior.uses);
}

/** The node that was named before, for as long as it answers, or none does. */
function nodeOf({ answering: [first = '', ...others] }: ListeningNodes, before: UsedObject | undefined): UsedObject {
  const isKept = before?.kind === NODES.kind && (first === '' || [first, ...others].includes(before.name));
  return { kind: NODES.kind, namespace: '', name: isKept ? before.name : first };
}

/** What a server has, or on how many nodes a program answers. Undefined for a component that uses neither. */
export function answerText({ objects, external }: ObservedComponent): string | undefined {
  const server = objects.at(-1);
  const { asked, listening } = external ?? {};
  if (listening !== undefined) {
    const { port, asked: of, answering } = listening;
    return `what listens on the port ${port} of the nodes: ${answering.length} of ${of} nodes that were asked answer`;
  }
  if (asked === undefined) return undefined;
  return `${server === undefined ? '' : `${idOf(server)}: `}${asked.url} has ${asked.series}`;
}
