import type { TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import { isKnown, type Informer } from '../../runtime/cache/informer.ts';
import { isNotFound } from '../../runtime/client/errors.ts';
import type { Member } from '../../runtime/objectSet/member.ts';
import { refusalOf } from '../../runtime/objectSet/watch.ts';
import { systemClock, type Clock } from '../../runtime/process/clock.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import { keepersOf, type Keepers, type KeptTypes } from './keepers.ts';

/** How long the stack `default` is waited for, ms. If it cannot be created by then, the controller deploys what it would have. */
const AWAITED_MS = 60_000;

interface Awaiting<G extends string> {
  /** See keepersOf. */
  readonly byDefault?: ReadonlySet<G>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** What the TrafficStacks of the cluster ask of a controller. */
export interface KeeperCache<G extends string> {
  /** True if they are read, or refused, or there are none. */
  readonly settled: boolean;
  /** That they may not be listed or watched, with the message of the API server. */
  refusals(): Problem[];
  /** Undefined if that is not known: then what they may have must not be changed. */
  keepers(): Keepers<G> | undefined;
  /** Calls a function when they ask for something else. */
  subscribe(onChange: () => void): void;
}

/**
 * @param stacks the shared informer; undefined if stacks are switched off
 * @param members all objects of the groups
 */
export function createKeeperCache<G extends string>(
  stacks: Informer<TrafficStack> | undefined,
  types: KeptTypes<G>,
  members: readonly Member[],
  { byDefault, clock }: Awaiting<G> = { clock: systemClock },
): KeeperCache<G> {
  if (stacks === undefined) {
    const keepers = keepersOf(types, [], members);
    return { settled: true, refusals: () => [], keepers: () => keepers, subscribe: () => undefined };
  }
  let knownSince: number | undefined;
  const listed = (): Keepers<G> => {
    knownSince ??= clock.monotonic();
    const isOver = clock.monotonic() - knownSince >= AWAITED_MS;
    return keepersOf(types, stacks.lister.list(), members, isOver ? undefined : byDefault);
  };
  return {
    get settled() {
      return stacks.synced || stacks.refusal !== undefined;
    },
    refusals: () => (hasNoStacks(stacks) ? [] : refusalOf('TrafficStacks', stacks)),
    keepers() {
      if (hasNoStacks(stacks)) return keepersOf(types, [], members);
      return isKnown(stacks) ? listed() : undefined;
    },
    subscribe(onChange) {
      let known = '';
      // Each report of a stack on its components is an event.
      stacks.subscribe(() => {
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
