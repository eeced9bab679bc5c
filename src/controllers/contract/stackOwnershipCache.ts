import { TRAFFIC_STACKS, type TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import { isKnown, type Informer } from '../../runtime/cache/informer.ts';
import { isNotFound } from '../../runtime/client/errors.ts';
import type { Member } from '../../runtime/objectSet/objectSet.ts';
import { refusalOf } from '../../runtime/objectSet/observe.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import type { StackSource } from './context.ts';
import { stackOwnershipOf, type StackOwnership, type StackTypes } from './stackOwnership.ts';

/** How the TrafficStacks of the cluster own the groups of a controller. */
export interface StackOwnershipCache<G extends string> {
  /** True if the first list has ended or was refused. */
  readonly isRead: boolean;
  /** Returns why TrafficStacks cannot be read, or that their CRD is missing, so that nothing is deployed. */
  refusals(): Problem[];
  /** Returns the ownership. Undefined if it is unknown: then no group may be changed. */
  ownership(): StackOwnership<G> | undefined;
  /** Calls a function when the ownership changes. */
  subscribe(onChange: () => void): void;
}

/**
 * @param members all objects of the groups
 * @param byFlags the groups that the flags deploy
 */
export function createStackOwnershipCache<G extends string>(
  { informer, active }: StackSource,
  types: StackTypes<G>,
  members: readonly Member[],
  byFlags: ReadonlySet<G>,
): StackOwnershipCache<G> {
  const listed = (): StackOwnership<G> => stackOwnershipOf(types, active(informer.lister.list()), members, byFlags);
  return {
    get isRead() {
      return informer.synced || informer.refusal !== undefined;
    },
    refusals() {
      if (!hasNoStacks(informer)) return refusalOf('TrafficStacks', informer);
      return byFlags.size === 0 ? [] : [MISSING];
    },
    ownership() {
      if (hasNoStacks(informer)) return stackOwnershipOf(types, [], members, byFlags);
      return isKnown(informer) ? listed() : undefined;
    },
    subscribe(onChange) {
      let known = '';
      // Each report of a stack on its components is an event.
      informer.subscribe(() => {
        const next = JSON.stringify(listed());
        if (next !== known) onChange();
        known = next;
      });
    },
  };
}

/** Returns whether there can be no stacks, because their CRD is missing. */
function hasNoStacks({ refusal }: Informer<TrafficStack>): boolean {
  return refusal !== undefined && isNotFound(refusal);
}

const CRD = `${TRAFFIC_STACKS.plural}.${TRAFFIC_STACKS.group}`;
const MISSING: Problem = {
  reason: 'CrdMissing',
  object: 'TrafficStacks',
  message: `the API server does not serve TrafficStacks, so nothing is deployed: install the CRD ${CRD} of deploy/crds`,
};
