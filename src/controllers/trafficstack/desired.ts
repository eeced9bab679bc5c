import { StackReason } from '../../api/trafficstack/reasons.ts';
import { parseTrafficStackSpec } from '../../api/trafficstack/schema.ts';
import type { TrafficStack, ComponentSpec, TrafficStackSpec } from '../../api/trafficstack/trafficStack.ts';
import type { Failure } from '../../runtime/process/problem.ts';
import { asDecidedLast } from './decide/status.ts';
import { namespaceProblems, type AllowedNamespaces } from './model/allowed.ts';
import { orderComponents, desiredComponentOf } from './model/desired.ts';
import { usesOf } from './model/external.ts';
import { withPresentRevision, withPresentRevisions } from './model/formerRevision.ts';
import type { Observation } from './model/observation.ts';
import { type Caches, existingIn, lastReadyRevision } from './observe/caches.ts';
import { observe, type Observed, type DesiredStack } from './observe/observe.ts';
import type { UsedServers } from './render/builtIn.ts';
import { type CountNodes, renderStack, type Rendered, type RenderedWith } from './render/stack.ts';

/** The components of a stack that is being deleted. */
export const NO_COMPONENTS: DesiredStack = { components: [], upgrade: {} };

/** The reason why nothing is decided about a stack. */
interface Undecided {
  readonly why: Failure;
}

interface Rendering {
  readonly renderings: Pick<Renderings, 'render'>;
  readonly caches: Caches;
  readonly allowed: AllowedNamespaces;
}

/**
 * Returns the desired components of a stack, or what is wrong with its spec.
 *
 * @param used the servers of another owner that its components use; default: as its status says
 */
export function desiredStackOf(
  stack: TrafficStack,
  { renderings, caches, allowed }: Rendering,
  used = usedBefore(stack),
): DesiredStack | Undecided {
  const parsed = parseTrafficStackSpec(stack);
  if ('problems' in parsed) return invalid(StackReason.InvalidSpec, parsed.problems);
  const ordered = orderComponents(parsed.spec.components);
  if ('problems' in ordered) return invalid(StackReason.InvalidDependencies, ordered.problems);
  const rendered = renderings.render(stack, parsed.spec, ordered.components, used);
  if ('problems' in rendered) return invalid(StackReason.InvalidComponents, rendered.problems);
  const { upgrade = {} } = parsed.spec;
  const present = withPresentRevisions(stack, rendered.components);
  const targets = rendered.components.map((each) => {
    const stored = lastReadyRevision(stack, each.spec.name, caches);
    return desiredComponentOf(each, {
      stack: present,
      upgrade,
      namespace: allowed.own,
      stored: stored && withPresentRevision(stored, each.former),
    });
  });
  // A target may have the objects of an earlier spec.
  const refused = namespaceProblems([...rendered.components, ...targets], existingIn(stack, caches), allowed);
  if (refused.length > 0) return invalid(StackReason.NamespaceNotAllowed, refused);
  return { components: targets, upgrade };
}

function invalid(reason: StackReason, problems: readonly string[]): Undecided {
  return { why: { reason, message: problems.join('; ') } };
}

/**
 * Observes a stack. If a component uses another server than its status says, renders the stack again first: files contain the address of the server.
 *
 * @throws ApiError, TransportError
 */
export async function observeDesired(
  stack: TrafficStack,
  desired: DesiredStack,
  where: Rendering & Observed,
  now: number,
): Promise<{ readonly desired: DesiredStack; readonly observation: Observation } | Undecided> {
  const observation = await observe(stack, desired, where, now);
  const used = usedNow(observation);
  const isLeaving = stack.metadata?.deletionTimestamp !== undefined;
  if (isLeaving || textOf(used) === textOf(usedBefore(stack))) return { desired, observation };
  const changed = desiredStackOf(stack, where, used);
  if ('why' in changed) return changed;
  return { desired: changed, observation: await observe(stack, changed, where, now) };
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

interface CachedRendering {
  readonly uid: string | undefined;
  readonly generation: number;
  /** The numbers of nodes that the objects depend on. */
  readonly counted: readonly (readonly [nodeSelector: Readonly<Record<string, string>>, count: number])[];
  /** The servers of other owners that the components use, as text. */
  readonly used: string;
  readonly rendered: Rendered;
}

/** Caches the rendered objects of each stack: each event of a pod is a reconcile, and 2,000 expressions take 50 ms. */
export class Renderings {
  readonly #countNodes: CountNodes;
  readonly #with: Pick<RenderedWith, 'builtIns' | 'objectKinds'>;
  /** Rendered stacks by name. */
  readonly #cached = new Map<string, CachedRendering>();

  constructor({ countNodes, ...others }: Omit<RenderedWith, 'used'>) {
    this.#countNodes = countNodes;
    this.#with = others;
  }

  /** Renders a parsed and ordered spec, or returns the cached objects: see renderStack. */
  render(
    stack: TrafficStack,
    spec: TrafficStackSpec,
    ordered: readonly ComponentSpec[],
    servers: UsedServers = new Map(),
  ): Rendered {
    const { name = '', uid, generation } = stack.metadata ?? {};
    const used = textOf(servers);
    const cached = this.#cached.get(name);
    const isOfSpec = cached?.uid === uid && cached?.generation === generation;
    if (cached !== undefined && isOfSpec && cached.used === used && this.#holds(cached)) return cached.rendered;
    const counted: [Readonly<Record<string, string>>, number][] = [];
    const countNodes: CountNodes = (nodeSelector) => {
      const count = this.#countNodes(nodeSelector);
      counted.push([nodeSelector, count]);
      return count;
    };
    const rendered = renderStack(stack, spec, ordered, { ...this.#with, countNodes, used: servers });
    if (generation !== undefined) this.#cached.set(name, { uid, generation, counted, used, rendered });
    return rendered;
  }

  forget(name: string): void {
    this.#cached.delete(name);
  }

  #holds({ counted }: CachedRendering): boolean {
    return counted.every(([nodeSelector, count]) => this.#countNodes(nodeSelector) === count);
  }
}

/** Returns the same text for the same servers. */
function textOf(used: UsedServers): string {
  return JSON.stringify(
    [...used].map(([component, { namespace, name, url }]) => [component, namespace, name, url]).sort(),
  );
}
