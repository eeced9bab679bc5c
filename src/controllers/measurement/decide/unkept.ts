import type { Keepers } from '../../contract/keepers.ts';
import type { Problem } from '../../../runtime/process/problem.ts';
import { KEPT_TYPES, type StackGroup } from './keepers.ts';

/**
 * Returns a problem for each type that the flags deploy and of which objects exist, although no stack has it: nobody corrects or upgrades
 * them. This is so after an upgrade from a version that deployed them without a stack, with --default-stack=false.
 *
 * @param exists whether an object of a group exists
 */
export function unkeptProblems(
  keepers: Keepers<StackGroup>,
  byFlags: ReadonlySet<StackGroup>,
  exists: (group: StackGroup) => boolean,
): Problem[] {
  const isUnkept = (group: StackGroup): boolean => {
    const { isOn, component } = keepers[group];
    return isOn === undefined && component === undefined && exists(group);
  };
  return [...byFlags].filter(isUnkept).map((group) => ({
    reason: 'NotKept',
    object: `the type ${KEPT_TYPES[group]}`,
    message: `no TrafficStack has a component of the type ${KEPT_TYPES[group]}, so nothing corrects or upgrades what an earlier version deployed: set stacks.default of the chart (--default-stack), or add the type to a stack`,
  }));
}
