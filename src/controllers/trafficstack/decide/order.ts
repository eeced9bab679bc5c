import type { V1Deployment } from '@kubernetes/client-node';
import { ComponentReason as Reason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus } from '../../../api/trafficstack/trafficStack.ts';
import { APPLIED_HASH_ANNOTATION, appliedHash } from '../../../runtime/apply/difference.ts';
import type { Observation, ObservedComponent, ObservedObject } from '../model/observation.ts';
import { hasReadiness } from '../render/kinds.ts';
import { isExternal } from './external.ts';
import { holdChange, wasNeverReady, type ChangeSurroundings } from './upgrade/hold.ts';
import { waitFor, type Waiting } from './waiting.ts';

/**
 * Returns what holds a component whose objects are missing or differ from the spec; undefined if nothing does. The order of a stack is for starts
 * and changes. A repair waits for no dependency, wave or gate: the component may itself be the cause of the state of a dependency or of the query of the gate.
 *
 * | the component                                       | waits for dependencies | for its wave and the gate |
 * |-----------------------------------------------------|------------------------|-----|
 * | was ready with this spec, and all open objects are missing | no              | no  |
 * | exists, and was never ready since it was changed last | no                     | no  |
 * | has the spec with which it was ready before the present one | no             | no  |
 * | gets fewer pods, and nothing else differs           | no                     | no  |
 * | runs, and anything else differs                     | that were never ready with their spec | see hold.ts |
 * | does not exist yet                                  | that are not ready     | see hold.ts |
 *
 * If nothing of the stack exists, all of it is started: see fromStart. A dependency that runs with its last ready revision, restored after a failed upgrade, is ready for others.
 *
 * @param open the objects that are missing or differ
 */
export function waitingOf(
  component: ObservedComponent,
  open: readonly ObservedObject[],
  around: ChangeSurroundings,
): (Waiting & ReturnType<typeof holdChange>) | undefined {
  const { spec, awaits, objects } = component;
  const exists = objects.some(({ live }) => live !== undefined);
  const isRepaired = isRepair(component, open, around.prior) || (exists && wasNeverReady(component, around.prior));
  const needed = (spec.dependsOn ?? []).filter((name) => !isEnough(around.before.get(name)?.status, exists));
  const order = isRepaired ? undefined : waitFor(needed, around.before);
  return order ?? lacking(awaits) ?? (isRepaired ? undefined : holdChange(component, around));
}

function lacking(awaits: string | undefined): Waiting | undefined {
  return awaits === undefined ? undefined : { state: 'Waiting', reason: Reason.WaitingForSecret, message: awaits };
}

/** Whether a dependency lets a component be started, or be changed if it exists: a dependency that is Degraded is not being changed. */
function isEnough(status: ComponentStatus | undefined, exists: boolean): boolean {
  if (status?.state === 'Ready' || status?.reason === Reason.RolledBack) return true;
  return exists && status?.readyRevision !== undefined;
}

function isRepair(
  component: ObservedComponent,
  open: readonly ObservedObject[],
  prior: ComponentStatus | undefined,
): boolean {
  const { revision } = component;
  const areMissing = open.every(({ live }) => live === undefined);
  const ran = prior?.revision === revision && [prior.readyRevision, prior.lastReadyRevision].includes(revision);
  if ((ran && areMissing) || prior?.earlierReadyRevision === revision) return true;
  return open.every(hasOnlyMorePods);
}

/** Whether an object has more pods than it should have, and was applied from the desired one but for their number. */
function hasOnlyMorePods({ live, object }: ObservedObject): boolean {
  if (live === undefined) return false;
  const { replicas } = (live as V1Deployment).spec ?? {};
  const { spec } = object as V1Deployment;
  if (replicas === undefined || spec?.replicas === undefined || replicas <= spec.replicas) return false;
  const withMore = { ...object, spec: { ...spec, replicas } };
  return live.metadata?.annotations?.[APPLIED_HASH_ANNOTATION] === appliedHash(withMore);
}

/**
 * Returns the observation without the earlier statuses if nothing of the stack exists, as after a backup that has only the TrafficStack was
 * restored: what is made then is a start, in the order of the dependencies, and no repair. Jobs run again.
 *
 * | the inventory has                                                            | a component was ready | it is a start |
 * |------------------------------------------------------------------------------|-------|-----|
 * | no workload, TrafficWeight or object of the type Objects, but for Jobs that completed: nothing was made yet | any | no |
 * | an object that exists, or that this process may not read; or a pod of the stack exists: the stack may be in use | any | no |
 * | only objects that do not exist                                               | yes   | yes |
 * | the same                                                                     | no: the start has begun, and its deadlines run | no |
 */
export function fromStart(observation: Observation): Observation {
  const { stack, components } = observation;
  const own = components.filter((each) => !isExternal(each, stack));
  const byName = new Map(own.map((each) => [each.spec.name, each]));
  const known = (stack.status?.inventory ?? []).some(({ component, objects }) => {
    const of = byName.get(component);
    return of !== undefined && objects.some(({ kind, completed }) => completed === undefined && counts(of, kind));
  });
  const statuses = stack.status?.components ?? [];
  const wasReady = statuses.some(
    ({ name, readyRevision, lastReadyRevision }) =>
      byName.has(name) && (readyRevision ?? lastReadyRevision) !== undefined,
  );
  if (!known || !wasReady || mayExist(own, observation)) return observation;
  const kept = statuses.filter(({ name }) => !byName.has(name));
  return {
    ...observation,
    stack: { ...stack, status: { ...stack.status, components: kept } },
    components: components.map((each) => ({ ...each, objects: each.objects.map(asNew) })),
  };
}

/** Whether anything of a stack exists, or may exist. @param own its components that are not External */
function mayExist(own: readonly ObservedComponent[], observation: Observation): boolean {
  const { left, locked = [], unread = [], withPods, hasOrphanedPods = false } = observation;
  if (left.length + locked.length + unread.length + withPods.size > 0 || hasOrphanedPods) return true;
  return own.some(({ stored, objects }) => stored !== undefined || objects.some(({ live }) => live !== undefined));
}

function counts({ spec }: ObservedComponent, kind: string): boolean {
  return spec.type === 'Objects' || hasReadiness({ kind });
}

function asNew(object: ObservedComponent['objects'][number]): ObservedComponent['objects'][number] {
  return object.isCompleted === true ? { ...object, isCompleted: false, isCurrent: false } : object;
}
