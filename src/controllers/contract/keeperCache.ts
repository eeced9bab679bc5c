import { TRAFFIC_STACKS, type TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import { isKnown, type Informer } from '../../runtime/cache/informer.ts';
import { isNotFound } from '../../runtime/client/errors.ts';
import type { Member } from '../../runtime/objectSet/objectSet.ts';
import { refusalOf } from '../../runtime/objectSet/observe.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import type { StackSource } from './context.ts';
import { keepersOf, type Keepers, type KeptTypes } from './keepers.ts';

/** What the TrafficStacks of the cluster ask of a controller. */
export interface KeeperCache<G extends string> {
  /** True if they are read, or refused, or there are none. */
  readonly settled: boolean;
  /** That they may not be listed or watched, with the message of the API server; or that their CRD is missing, and nothing is deployed. */
  refusals(): Problem[];
  /** Undefined if that is not known: then what they may have must not be changed. */
  keepers(): Keepers<G> | undefined;
  /** Calls a function when they ask for something else. */
  subscribe(onChange: () => void): void;
}

/**
 * @param members all objects of the groups
 * @param byFlags the groups that the flags deploy
 */
export function createKeeperCache<G extends string>(
  { informer, active }: StackSource,
  types: KeptTypes<G>,
  members: readonly Member[],
  byFlags: ReadonlySet<G>,
): KeeperCache<G> {
  const listed = (): Keepers<G> => keepersOf(types, active(informer.lister.list()), members, byFlags);
  return {
    get settled() {
      return informer.synced || informer.refusal !== undefined;
    },
    refusals() {
      if (!hasNoStacks(informer)) return refusalOf('TrafficStacks', informer);
      return byFlags.size === 0 ? [] : [MISSING];
    },
    keepers() {
      if (hasNoStacks(informer)) return keepersOf(types, [], members, byFlags);
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

/** Without their CRD, there are none. */
function hasNoStacks({ refusal }: Informer<TrafficStack>): boolean {
  return refusal !== undefined && isNotFound(refusal);
}

const CRD = `${TRAFFIC_STACKS.plural}.${TRAFFIC_STACKS.group}`;
const MISSING: Problem = {
  reason: 'CrdMissing',
  object: 'TrafficStacks',
  message: `the API server does not serve TrafficStacks, so nothing is deployed: install the CRD ${CRD} of deploy/crds`,
};
