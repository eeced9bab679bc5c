import type { ExternalSpec } from '../../../api/trafficstack/builtInSchema.ts';
import { ComponentReason as Reason } from '../../../api/trafficstack/reasons.ts';
import { USER_TYPES, type ExternalKind } from '../../../api/trafficstack/terms.ts';
import type {
  ComponentSpec,
  ComponentStatus,
  TrafficStack,
  UsedObject,
} from '../../../api/trafficstack/trafficStack.ts';
import { NODES } from '../../../runtime/client/resources.ts';
import { idFor, idOf } from '../../../runtime/objectSet/objectSet.ts';
import { usesOf } from '../model/external.ts';
import type { ObservedComponent } from '../model/observation.ts';
import { isMadeByOperator } from '../render/defaultStack.ts';
import { isOfStack } from '../render/objects.ts';

/**
 * Returns whether the operator uses the workload or TrafficWeight of another owner, without writing it:
 *
 * | mode     | the workload             | external |
 * |----------|--------------------------|----------|
 * | External | any                      | yes      |
 * | Auto     | is another owner's       | yes      |
 * | Auto     | is missing, and was used until now, as the status says | yes: the component waits for it |
 * | Auto     | is the stack's, or missing otherwise | no |
 * | Managed  | any                      | no       |
 *
 * For built-in types, see observe/externalProvider.ts.
 */
export function isExternal({ spec, objects, external }: ObservedComponent, stack: TrafficStack): boolean {
  if (!USER_TYPES.includes(spec.type)) return external !== undefined;
  if (spec.mode !== 'Auto') return spec.mode === 'External';
  return isForeign({ objects }, stack) || isMissed({ spec, objects }, stack);
}

/** Returns whether the workload that the component used no longer exists. A new, empty one of the stack would take its place. */
function isMissed({ spec, objects }: Pick<ObservedComponent, 'spec' | 'objects'>, { status }: TrafficStack): boolean {
  const workload = objects.at(-1);
  const uses = status?.components?.find(({ name }) => name === spec.name)?.uses;
  if (workload === undefined || uses === undefined || workload.live !== undefined) return false;
  return idFor(uses, uses) === idOf(workload);
}

/** Names the workload or TrafficWeight of another owner that a component of a user type uses, also while it does not exist. */
export function usesOfUser(component: ObservedComponent, stack: TrafficStack): Pick<ComponentStatus, 'uses'> {
  const workload = component.objects.at(-1);
  if (workload === undefined || !(isForeign(component, stack) || isMissed(component, stack))) return {};
  const { namespace = '', name = '' } = workload.object.metadata ?? {};
  return { uses: { kind: workload.resource.kind, namespace, name } };
}

/** Returns whether the workload of a component exists and belongs to another owner. */
export function isForeign({ objects }: Pick<ObservedComponent, 'objects'>, stack: TrafficStack): boolean {
  const live = objects.at(-1)?.live;
  return live !== undefined && !isOfStack(live, stack);
}

/**
 * Returns the earlier status of a component. Undefined if its workload has changed between the stack and another owner: the state of one says nothing
 * about the other, even with the same spec.
 */
export function priorOf(component: ObservedComponent, stack: TrafficStack): ComponentStatus | undefined {
  const prior = stack.status?.components?.find(({ name }) => name === component.spec.name);
  return (prior?.mode === 'External') === isExternal(component, stack) ? prior : undefined;
}

/** Returns the state of a component whose external object does not exist or is unusable. Undefined if the object is usable. */
export function missingState(
  { spec, objects, external }: ObservedComponent,
  wasReady: boolean,
): Pick<ComponentStatus, 'state' | 'reason' | 'message'> | undefined {
  const workload = objects.at(-1);
  const { awaited, listening, problem, named, server, sought } = external ?? {};
  const state = wasReady ? 'Degraded' : 'Progressing';
  const unusable = (message: string) => ({ state, reason: Reason.ExternalUnusable, message }) as const;
  if (awaited !== undefined) return unusable(awaited);
  if (listening !== undefined) return problem === undefined ? undefined : unusable(problem);
  const what = workload === undefined ? (server?.url ?? sought) : idOf(workload);
  if (problem !== undefined) return unusable(`${what} ${problem}`);
  if (workload?.live !== undefined || server !== undefined) return undefined;
  return { state, reason: Reason.ExternalMissing, message: `${what} does not exist: ${adviceFor(spec, named)}` };
}

/** Says what to do about an object that does not exist. */
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

/** Returns whether a built-in component still uses the object with which it was ready. An upgrade of the operator may change its spec meanwhile. */
export function usesTheSame(component: ObservedComponent, prior: ComponentStatus | undefined): boolean {
  const isKnown = component.external !== undefined && prior?.readyRevision !== undefined;
  if (!isKnown || prior.uses === undefined) return false;
  const { uses } = usesOf(component, prior.uses);
  return uses !== undefined && idFor(uses, uses) === idFor(prior.uses, prior.uses);
}

/** Describes the series of a server, or the nodes where a program answers. Undefined for other components. */
export function answerText({ objects, external }: ObservedComponent): string | undefined {
  const object = objects.at(-1);
  const { server, listening } = external ?? {};
  if (listening !== undefined) {
    const { port, queried, answering } = listening;
    return `what listens on the port ${port} of the nodes: ${answering.length} of ${queried} nodes that were asked answer`;
  }
  if (server === undefined) return undefined;
  return `${object === undefined ? '' : `${idOf(object)}: `}${server.url} has ${server.series}`;
}

/** External objects by the name of the component that uses them. */
export type FoundExternals = ReadonlyMap<string, ExternalSpec>;

/**
 * Returns the found objects that the spec of the stack must name. The operator then reads only these objects.
 *
 * | the stack                                  | the mode of the component | the component                     | named |
 * |--------------------------------------------|------|--------------------------------------------------------|-------|
 * | `default`, made by the operator            | Auto | uses what this reconcile has found, or an earlier version | yes |
 * | the same                                   | Auto | waits for what starts, cannot use what was found, or deploys its own | no |
 * | the same                                   | any other | any                                               | no: a user has decided |
 * | a stack of a user, or is being deleted     | any  | any                                                    | no: its status names it |
 *
 * The status records the object that a stack of a user uses, and the operator keeps using it: see model/external.ts. Tools that apply the spec of a
 * user would revert a change.
 */
export function foundExternals(stack: TrafficStack, components: readonly ObservedComponent[]): FoundExternals {
  if (!isMadeByOperator(stack) || stack.metadata?.deletionTimestamp !== undefined) return new Map();
  return new Map(
    components.flatMap((component): [string, ExternalSpec][] => {
      const { uses } = component.spec.mode === 'Auto' ? usesOf(component) : {};
      return uses === undefined ? [] : [[component.spec.name, externalOf(uses)]];
    }),
  );
}

function externalOf({ kind, namespace, name }: UsedObject): ExternalSpec {
  return kind === NODES.kind ? { kind: 'Node' } : { kind: kind as ExternalKind, namespace, name };
}
