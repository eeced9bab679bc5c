import type { TrafficStack } from '../../../../src/api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../../src/runtime/client/resource.ts';
import { imageOf, isAvailable, isStack, nameOf, wantedImage, type World } from './world.ts';

/** Why it was too early for this workload; undefined if it was not. @param specs all of its stack so far */
export function tooEarly(object: KubeObject, specs: readonly TrafficStack['spec'][], world: World): string | undefined {
  const name = nameOf(object);
  const problems = specs.map(({ components }) => {
    const own = components.find((each) => each.name === name);
    if (wantedImage(own) !== imageOf(object)) return 'no spec has its image';
    const open = (own?.dependsOn ?? []).filter((dependency) => {
      const found = world.workloadOf(dependency);
      const image = wantedImage(components.find((each) => each.name === dependency));
      return found === undefined || imageOf(found) !== image || !isAvailable(found);
    });
    return open.length === 0 ? undefined : `before ${open.join(', ')} was ready`;
  });
  if (problems.includes(undefined)) return undefined;
  return `${name} with ${imageOf(object) ?? ''} was applied: ${problems.at(-1) ?? 'without a stack'}`;
}

/** What is there of the components that depend on a workload, without claims: those that are kept have the labels, too. */
export function usersOf(object: KubeObject, specs: readonly TrafficStack['spec'][], { now }: World): string[] {
  const users = new Set(
    specs.flatMap(({ components }) =>
      components.filter(({ dependsOn }) => dependsOn?.includes(nameOf(object))).map(({ name }) => name),
    ),
  );
  const runs = (key: string): boolean => /^\/registry\/(deployments|statefulsets|daemonsets|pods)\//.test(key);
  return [...now].flatMap(([key, live]) => (!isStack(key) && runs(key) && users.has(nameOf(live)) ? [key] : []));
}
