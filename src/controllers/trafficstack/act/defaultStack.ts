import type { ExternalSpec } from '../../../api/trafficstack/builtInSchema.ts';
import { StackEvent } from '../../../api/trafficstack/reasons.ts';
import { TRAFFIC_STACKS, type TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { Informer } from '../../../runtime/cache/informer.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { isConflict, WaitingError } from '../../../runtime/client/errors.ts';
import { NODES } from '../../../runtime/client/resources.ts';
import type { EventRecorder } from '../../../runtime/controller/events.ts';
import { idFor } from '../../../runtime/objectSet/objectSet.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';
import { DEFAULT_STACK } from '../../contract/stackOwnership.ts';
import type { FoundExternals } from '../decide/external.ts';
import { FIELD_MANAGER, DISCOVERY_MANAGER } from '../names.ts';
import { holdsObjects, planDefaultStack, type DefaultStackPlan, nameExternals } from '../render/defaultStack.ts';

/** ms: delay until the stacks are read, or until the cache has the newest stack. */
const RETRY_MS = 200;
/** Begins the note of an Event. */
const CHANGED = 'somebody has changed the spec, so it decides, and not the flags';

/** The dependencies of the function that makes the stack `default`. */
interface DefaultStackMaker {
  /** Writes only while the process is the leader. */
  readonly client: Pick<Client, 'create' | 'mergePatch' | 'delete'>;
  readonly cache: Pick<Informer<TrafficStack>, 'synced' | 'refusal'>;
  /** The stacks that are reconciled. They show a write at once: otherwise new images and new settings would replace pods one after the other. */
  readonly stacks: Pick<Overlay<TrafficStack>, 'list' | 'wrote'>;
  /** Leaves only the stacks that are run: this stack does not deploy a type that another stack names. */
  readonly active: (stacks: readonly TrafficStack[]) => readonly TrafficStack[];
  readonly builtIns: readonly BuiltIn[];
  readonly events: Pick<EventRecorder, 'event'>;
}

/**
 * Makes the stack `default` as the flags say, and keeps changes of users. An Event lists the flags without effect, once in a process for each change.
 *
 * @returns the function that makes it. It throws ApiError, TransportError, NotLeaderError; WaitingError while the stacks are not read, or somebody
 *   else writes it
 */
export function createDefaultStack({
  cache,
  active,
  builtIns,
  events,
  ...writing
}: DefaultStackMaker): () => Promise<void> {
  const { stacks } = writing;
  let reported = '';
  const report = (live: TrafficStack, ignored: string): void => {
    if (ignored !== '' && ignored !== reported)
      events.event(live, 'Normal', StackEvent.FlagsIgnored, `${CHANGED}: ${ignored}`);
    reported = ignored;
  };
  return async () => {
    // Without their CRD there are no stacks.
    if (cache.refusal !== undefined) return;
    if (!cache.synced) throw new WaitingError('CachesNotSynced', 'TrafficStacks are not read yet', RETRY_MS);
    // A stack that is not run, but has objects, keeps them: their types are not deployed a second time.
    const all = stacks.list();
    const counted = new Set([...active(all), ...all.filter(holdsObjects)]);
    const plan = planDefaultStack(builtIns, [...counted]);
    if (plan?.do === 'leave') {
      report(plan.live, plan.ignored.join('; '));
      return;
    }
    reported = '';
    if (plan === undefined) return;
    try {
      await carryOut(writing, plan);
    } catch (error) {
      // The cache is late, or another client has written it since.
      if (isConflict(error))
        throw new WaitingError('Conflict', 'the TrafficStack default was written meanwhile', RETRY_MS);
      throw error;
    }
  };
}

type Writing = Exclude<DefaultStackPlan, { do: 'leave' }>;

async function carryOut(
  { client, stacks }: Pick<DefaultStackMaker, 'client' | 'stacks'>,
  plan: Writing,
): Promise<void> {
  const call = { fieldManager: FIELD_MANAGER };
  const ref = { name: DEFAULT_STACK };
  if (plan.do === 'create') {
    stacks.wrote(await client.create(TRAFFIC_STACKS, plan.stack, call));
    return;
  }
  const { uid, resourceVersion } = plan.live.metadata ?? {};
  if (plan.do === 'delete') {
    await client.delete(TRAFFIC_STACKS, ref, { preconditions: { ...(uid !== undefined && { uid }) } });
    return;
  }
  const { metadata, spec } = plan.stack;
  stacks.wrote(
    await client.mergePatch(TRAFFIC_STACKS, ref, { metadata: { ...metadata, resourceVersion }, spec }, call),
  );
}

/** ms: delay until a stack that another client wrote is read. */
const REREAD_MS = 200;
/** Writes about a component in WITHIN_MS. They bound the effect of a tool that keeps setting the mode Auto. The status names the used object anyway. */
const MOST_WRITES = 3;
/** The period of MOST_WRITES, ms. */
const WITHIN_MS = 600_000;

/** The dependencies of the writer. */
interface FoundNamer {
  /** Writes only while the process is the leader. */
  readonly client: Pick<Client, 'mergePatch'>;
  readonly stacks: Pick<Overlay<TrafficStack>, 'get' | 'wrote'>;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Names the objects that a search has found in the spec of a stack. */
export type NameFound = (stack: TrafficStack, found: FoundExternals) => Promise<void>;

/**
 * Writes the objects that a search has found into the spec of the stack: the mode External, and `external`. Each write has the version of the stack,
 * so that it never replaces a concurrent change of a user. A server-side apply would need force against the manager that created the stack, and would
 * drop earlier names that it does not repeat.
 *
 * @returns the writer. It throws ApiError, TransportError, NotLeaderError; WaitingError if another client has written the stack
 */
export function createFoundNamer({ client, stacks, events, clock }: FoundNamer): NameFound {
  /** Times of the writes, by component. */
  const written = new Map<string, readonly number[]>();
  const recent = (component: string): readonly number[] =>
    written.get(component)?.filter((at) => clock.monotonic() - at < WITHIN_MS) ?? [];
  return async (stack, found) => {
    const named = new Map([...found].filter(([component]) => recent(component).length < MOST_WRITES));
    const { name = '', generation } = stack.metadata ?? {};
    const newest = stacks.get(name);
    // What was found is of another spec then.
    if (named.size === 0 || newest?.metadata?.generation !== generation) return;
    const { resourceVersion } = newest?.metadata ?? {};
    const patch = { metadata: { resourceVersion }, spec: nameExternals(stack.spec, named) };
    try {
      stacks.wrote(await client.mergePatch(TRAFFIC_STACKS, { name }, patch, { fieldManager: DISCOVERY_MANAGER }));
    } catch (error) {
      if (isConflict(error))
        throw new WaitingError('Conflict', `the TrafficStack ${name} was written meanwhile`, REREAD_MS);
      throw error;
    }
    for (const [component, external] of named) {
      written.set(component, [...recent(component), clock.monotonic()]);
      events.event(stack, 'Normal', StackEvent.ExternalFound, noteOf(component, external));
    }
  };
}

function noteOf(component: string, external: ExternalSpec): string {
  const { kind = '', namespace, name } = external;
  const what =
    kind === NODES.kind ? 'the node-exporter on the nodes' : idFor({ kind }, { namespace, name: name ?? '' });
  return `${component} uses ${what}, which the spec names from now on; to search again, set its mode Auto and remove external`;
}
