import { StackReason } from '../../api/trafficstack/reasons.ts';
import { parseTrafficStackSpec } from '../../api/trafficstack/schema.ts';
import type { TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import type { Failure } from '../../runtime/process/problem.ts';
import { namespaceProblems, type AllowedNamespaces } from './model/allowed.ts';
import { orderComponents } from './model/graph.ts';
import { usesOf } from './decide/present/external.ts';
import { asDecidedLast } from './decide/status.ts';
import { targetOf } from './model/target.ts';
import type { Caches } from './observe/caches.ts';
import { existingIn } from './observe/inventory.ts';
import type { Observation } from './observe/observation.ts';
import { observe, type Observed, type Wanted } from './observe/observe.ts';
import { lastReadyRevision } from './observe/revisions.ts';
import type { UsedServers } from './render/builtIn.ts';
import { textOf, type Renderings } from './renderings.ts';

/** For a stack that is being deleted. */
export const NOTHING: Wanted = { components: [], upgrade: {} };

/** Why nothing is decided about a stack. */
interface Undecided {
  readonly why: Failure;
}

interface Rendering {
  readonly renderings: Pick<Renderings, 'render'>;
  readonly caches: Caches;
  readonly allowed: AllowedNamespaces;
}

/**
 * What a stack should be, or what is wrong with it.
 *
 * @param used the servers of another owner that its components use; default: as its status says
 */
export function wantedOf(
  stack: TrafficStack,
  { renderings, caches, allowed }: Rendering,
  used = usedBefore(stack),
): Wanted | Undecided {
  const parsed = parseTrafficStackSpec(stack);
  if ('problems' in parsed) return invalid(StackReason.InvalidSpec, parsed.problems);
  const ordered = orderComponents(parsed.spec.components);
  if ('problems' in ordered) return invalid(StackReason.InvalidDependencies, ordered.problems);
  const rendered = renderings.render(stack, parsed.spec, ordered.components, used);
  if ('problems' in rendered) return invalid(StackReason.InvalidComponents, rendered.problems);
  const { upgrade = {} } = parsed.spec;
  const targets = rendered.components.map((each) =>
    targetOf(each, {
      stack,
      upgrade,
      namespace: allowed.own,
      stored: lastReadyRevision(stack, each.spec.name, caches),
    }),
  );
  // A target may have the objects of an earlier spec.
  const refused = namespaceProblems([...rendered.components, ...targets], existingIn(stack, caches), allowed);
  if (refused.length > 0) return invalid(StackReason.NamespaceNotAllowed, refused);
  return { components: targets, upgrade };
}

function invalid(reason: StackReason, problems: readonly string[]): Undecided {
  return { why: { reason, message: problems.join('; ') } };
}

/**
 * Observes a stack. If a component uses another server than its status says, the stack is rendered anew before anything is decided: files
 * have the address of the server, and may be applied in the same reconcile.
 *
 * @throws ApiError, TransportError
 */
export async function observeWanted(
  stack: TrafficStack,
  wanted: Wanted,
  where: Rendering & Observed,
  now: number,
): Promise<{ readonly wanted: Wanted; readonly observation: Observation } | Undecided> {
  const observation = await observe(stack, wanted, where, now);
  const used = usedNow(observation);
  const isLeaving = stack.metadata?.deletionTimestamp !== undefined;
  if (isLeaving || textOf(used) === textOf(usedBefore(stack))) return { wanted, observation };
  const again = wantedOf(stack, where, used);
  if ('why' in again) return again;
  return { wanted: again, observation: await observe(stack, again, where, now) };
}

function usedBefore(stack: TrafficStack): UsedServers {
  const components = asDecidedLast(stack).status?.components ?? [];
  return new Map(components.flatMap(({ name, uses }) => (uses?.url === undefined ? [] : [[name, uses]])));
}

function usedNow({ components }: Observation): UsedServers {
  return new Map(
    components.flatMap((each) => {
      const { uses } = usesOf(each);
      return uses?.url === undefined ? [] : [[each.spec.name, uses]];
    }),
  );
}
