import type { Observation, ObservedComponent } from '../model/observation.ts';
import { hasReadiness } from '../render/kinds.ts';
import { isExternal } from './external.ts';

/**
 * Returns the observation without the earlier statuses if nothing of the stack runs any more, as after a backup that has only the TrafficStack was
 * restored: what is made then is a start, in the order of the dependencies, and no repair. Jobs run again.
 *
 * | the workloads and TrafficWeights of the inventory, and the objects of the type Objects | a component was ready | it is a start |
 * |------------------------------------------------------------------------------|-------|-----|
 * | none is in the inventory: nothing was made yet, or only Jobs that completed  | any   | no  |
 * | one exists, also of a component that is being removed                        | any   | no  |
 * | none exists                                                                  | yes   | yes |
 * | none exists                                                                  | no: the start has begun, and its deadlines run | no |
 */
export function fromStart(observation: Observation): Observation {
  const { stack, components, left } = observation;
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
  const runs = own.some((each) =>
    each.objects.some(({ resource, live }) => live !== undefined && counts(each, resource.kind)),
  );
  if (!known || !wasReady || runs || left.some(({ resource }) => hasReadiness(resource))) return observation;
  const kept = statuses.filter(({ name }) => !byName.has(name));
  return {
    ...observation,
    stack: { ...stack, status: { ...stack.status, components: kept } },
    components: components.map((each) => ({ ...each, objects: each.objects.map(asNew) })),
  };
}

function counts({ spec }: ObservedComponent, kind: string): boolean {
  return spec.type === 'Objects' || hasReadiness({ kind });
}

function asNew(object: ObservedComponent['objects'][number]): ObservedComponent['objects'][number] {
  return object.isCompleted === true ? { ...object, isCompleted: false, isCurrent: false } : object;
}
