import { TRAFFIC_STACKS, type TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { Informer } from '../../../runtime/cache/informer.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import { StackEvent } from '../../../api/trafficstack/reasons.ts';
import type { Client } from '../../../runtime/client/client.ts';
import type { EventRecorder } from '../../../runtime/controller/events.ts';
import { isConflict, WaitingError } from '../../../runtime/client/errors.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';
import { DEFAULT_STACK } from '../../contract/keepers.ts';
import { FIELD_MANAGER } from '../names.ts';
import { holdsObjects, planDefaultStack, type DefaultStackPlan } from '../render/defaultStack.ts';

/** Until the stacks are read, or the cache has the newest one. ms */
const AGAIN_MS = 200;
/** Begins the note of an Event. */
const CHANGED = 'somebody has changed the spec, so it decides, and not the flags';

/** What makes the stack `default`. */
export interface DefaultStackMaker {
  /** Gated on leadership. */
  readonly client: Pick<Client, 'create' | 'mergePatch' | 'delete'>;
  readonly cache: Pick<Informer<TrafficStack>, 'synced' | 'refusal'>;
  /** What is reconciled: it has what is written here at once. Otherwise new images and new settings would replace pods one after the other. */
  readonly stacks: Pick<Overlay<TrafficStack>, 'list' | 'wrote'>;
  /** Leaves only the stacks that are run: this stack does not deploy a type that another stack names. */
  readonly active: (stacks: readonly TrafficStack[]) => readonly TrafficStack[];
  readonly builtIns: readonly BuiltIn[];
  readonly events: Pick<EventRecorder, 'event'>;
}

/**
 * Makes the stack `default` as the flags say, and leaves what people change of it. An Event names what the flags say otherwise, once in a
 * process for each change.
 *
 * @returns what makes it. It throws ApiError, TransportError, NotLeaderError; WaitingError while the stacks are not read, or somebody
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
  let told = '';
  const tell = (live: TrafficStack, ignored: string): void => {
    if (ignored !== '' && ignored !== told)
      events.event(live, 'Normal', StackEvent.FlagsIgnored, `${CHANGED}: ${ignored}`);
    told = ignored;
  };
  return async () => {
    // Without their CRD there are no stacks.
    if (cache.refusal !== undefined) return;
    if (!cache.synced) throw new WaitingError('CachesNotSynced', 'TrafficStacks are not read yet', AGAIN_MS);
    // A stack that is not run, but has objects, keeps them: their types are not deployed a second time.
    const all = stacks.list();
    const counted = new Set([...active(all), ...all.filter(holdsObjects)]);
    const plan = planDefaultStack(builtIns, [...counted]);
    if (plan?.do === 'leave') {
      tell(plan.live, plan.ignored.join('; '));
      return;
    }
    told = '';
    if (plan === undefined) return;
    try {
      await carryOut(writing, plan);
    } catch (error) {
      // The cache is late, or somebody else has written it since.
      if (isConflict(error))
        throw new WaitingError('Conflict', 'the TrafficStack default was written meanwhile', AGAIN_MS);
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
