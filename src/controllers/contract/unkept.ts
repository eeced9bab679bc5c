import type { KubeObject } from '../../runtime/client/resource.ts';
import type { Member } from '../../runtime/objectSet/objectSet.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import type { Keepers, KeptTypes } from './keepers.ts';

/** The flags and objects of a controller, for the groups that TrafficStacks may keep. */
export interface Keepable<G extends string> {
  readonly types: KeptTypes<G>;
  /** The groups that the flags deploy. */
  readonly byFlags: ReadonlySet<G>;
  /** Whether the operator creates the TrafficStack `default`, which then keeps them. Default: true. */
  readonly hasDefaultStack?: boolean | undefined;
  readonly members: readonly Member[];
  /** The object with the name of a member; undefined if it does not exist or is not known. */
  readonly live: (member: Member) => KubeObject | undefined;
}

/**
 * Returns a problem for each type that the flags deploy and of which objects exist, although no stack has it: nobody corrects or upgrades
 * them. This is so after an upgrade from a version that deployed them without a stack, with --default-stack=false.
 *
 * @param keepers undefined if it is not known what stacks have: then there is no problem
 */
export function unkeptProblems<G extends string>(
  keepers: Keepers<G> | undefined,
  { types, byFlags, hasDefaultStack = true, members, live }: Keepable<G>,
): Problem[] {
  if (hasDefaultStack || keepers === undefined) return [];
  const isUnkept = (group: G): boolean => {
    const { isOn, component } = keepers[group];
    const exists = members.some((member) => member.group === group && live(member) !== undefined);
    return isOn === undefined && component === undefined && exists;
  };
  return [...byFlags].filter(isUnkept).map((group) => ({
    reason: 'NotKept',
    object: `the type ${types[group]}`,
    message: `no TrafficStack has a component of the type ${types[group]}, so nothing corrects or upgrades what an earlier version deployed: set stacks.default of the chart (--default-stack), or add the type to a stack`,
  }));
}
