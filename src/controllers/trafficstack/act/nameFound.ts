import { StackEvent } from '../../../api/trafficstack/reasons.ts';
import { TRAFFIC_STACKS, type TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { ExternalSpec } from '../../../api/trafficstack/builtInSchema.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { isConflict, WaitingError } from '../../../runtime/client/errors.ts';
import { NODES } from '../../../runtime/client/resources.ts';
import type { EventRecorder } from '../../../runtime/controller/events.ts';
import { idFor } from '../../../runtime/objectSet/objectSet.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { FoundExternals } from '../decide/foundExternals.ts';
import { DISCOVERY_MANAGER } from '../names.ts';
import { nameExternals } from '../render/defaultStack.ts';

/** Until a stack that was written meanwhile is read. ms */
const AGAIN_MS = 200;
/** Writes about a component in a time: a tool that keeps setting the mode Auto causes no more. The status names what is used all the same. */
const MOST_WRITES = 3;
/** That time. ms */
const WITHIN_MS = 600_000;

/** The dependencies of the writer. */
export interface FoundNamer {
  /** Gated on leadership. */
  readonly client: Pick<Client, 'mergePatch'>;
  readonly stacks: Pick<Overlay<TrafficStack>, 'get' | 'wrote'>;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Names in the spec of a stack what a search has found. */
export type NameFound = (stack: TrafficStack, found: FoundExternals) => Promise<void>;

/**
 * Writes what a search has found into the spec of the stack: the mode External, and `external`. Each write has the version of the stack, so that
 * it never replaces what a user has just written. It is not a server-side apply: that would need force against the manager that has created the
 * stack, and would drop what an earlier one has named if a single one forgot to repeat it.
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
        throw new WaitingError('Conflict', `the TrafficStack ${name} was written meanwhile`, AGAIN_MS);
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
