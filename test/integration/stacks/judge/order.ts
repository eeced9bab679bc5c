import type { TrafficStack } from '../../../../src/api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../../src/runtime/client/resource.ts';
import { imageOf, isAvailable, isStack, nameOf, templateOf, wantedImage, type World, type Write } from './world.ts';

/** A write that was no removal. */
type Written = Pick<Write, 'before'> & { readonly object: KubeObject };

type Components = TrafficStack['spec']['components'];

/** Why it was too early for what was written of this workload; undefined if it was not. @param specs all of its stack so far */
export function tooEarly(write: Written, specs: readonly TrafficStack['spec'][], world: World): string | undefined {
  const { object } = write;
  const problems = specs.map(({ components }) => {
    const own = components.find((each) => each.name === nameOf(object));
    if (wantedImage(own) !== imageOf(object)) return 'no spec has its image';
    if (isCorrection(write, world)) return undefined;
    const open = (own?.dependsOn ?? []).filter((dependency) => {
      const found = withWantedImage(dependency, components, world);
      return found === undefined || !isAvailable(found);
    });
    if (open.length > 0) return `before ${open.join(', ')} was ready`;
    const unended = isOfLaterWave(write, components, world) ? unendedBefore(nameOf(object), components, world) : [];
    return unended.length === 0 ? undefined : `before ${unended.join(', ')} of an earlier wave was ready`;
  });
  if (problems.includes(undefined)) return undefined;
  return `${nameOf(object)} with ${imageOf(object) ?? ''} was applied: ${problems.at(-1) ?? 'without a stack'}`;
}

/**
 * Whether no status called a workload Ready with the pod template that is replaced. Its correction waits for nothing: the workload may itself be
 * what keeps a dependency or an earlier wave from being ready.
 */
function isCorrection({ before, object }: Written, world: World): boolean {
  return before !== undefined && world.readyTemplateOf(object) !== templateOf(before);
}

/** Whether a change has to wait for earlier waves. What is new has not: no upgrade is in progress before all is there. Nor has a correction. */
export function isOfLaterWave(write: Written, components: Components, world: World): boolean {
  if (write.before === undefined || waveOf(nameOf(write.object), components) === 0) return false;
  return !isCorrection(write, world);
}

/** The components of earlier waves, on any branch, that were not available so far with the image that the spec has. */
function unendedBefore(name: string, components: Components, world: World): string[] {
  const own = waveOf(name, components);
  const earlier = components.filter((each) => waveOf(each.name, components) < own);
  return earlier.flatMap((each) => {
    const found = withWantedImage(each.name, components, world);
    return found !== undefined && world.wasAvailable(found) ? [] : [each.name];
  });
}

/** 0 for a component that depends on nothing, else one more than the last wave that it depends on. */
function waveOf(name: string, components: Components): number {
  const { dependsOn = [] } = components.find((each) => each.name === name) ?? {};
  return Math.max(-1, ...dependsOn.map((each) => waveOf(each, components))) + 1;
}

/** The workload of a component, if it has the image that the spec has. */
function withWantedImage(name: string, components: Components, world: World): KubeObject | undefined {
  const found = world.workloadOf(name);
  const wanted = wantedImage(components.find((each) => each.name === name));
  return found !== undefined && imageOf(found) === wanted ? found : undefined;
}

/** The existing objects of the components that depend on a workload, without claims: kept claims also have the labels. */
export function usersOf(object: KubeObject, specs: readonly TrafficStack['spec'][], { now }: World): string[] {
  const users = new Set(
    specs.flatMap(({ components }) =>
      components.filter(({ dependsOn }) => dependsOn?.includes(nameOf(object))).map(({ name }) => name),
    ),
  );
  const runs = (key: string): boolean => /^\/registry\/(deployments|statefulsets|daemonsets|pods)\//.test(key);
  return [...now].flatMap(([key, live]) => (!isStack(key) && runs(key) && users.has(nameOf(live)) ? [key] : []));
}
