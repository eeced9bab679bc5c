import { TRAFFIC_STACKS, type TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { Informer } from '../../../runtime/cache/informer.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { isConflict, WaitingError } from '../../../runtime/client/errors.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';
import { DEFAULT_STACK } from '../../contract/keepers.ts';
import { FIELD_MANAGER } from '../names.ts';
import { planDefaultStack, type DefaultStackPlan } from '../render/defaultStack.ts';

/** Until the stacks are read, or the cache has the newest one. ms */
const AGAIN_MS = 200;

type Writer = Pick<Client, 'create' | 'mergePatch' | 'delete'>;

/**
 * Makes the stack `default` as the flags say, and leaves what people change of it.
 *
 * @param client gated on leadership
 * @throws ApiError, TransportError, NotLeaderError; WaitingError while the stacks are not read, or somebody else writes it
 */
export async function makeDefaultStack(
  client: Writer,
  stacks: Pick<Informer<TrafficStack>, 'synced' | 'refusal' | 'lister'>,
  builtIns: readonly BuiltIn[],
): Promise<void> {
  // Without their CRD there are no stacks.
  if (stacks.refusal !== undefined) return;
  if (!stacks.synced) throw new WaitingError('CachesNotSynced', 'TrafficStacks are not read yet', AGAIN_MS);
  const plan = planDefaultStack(builtIns, stacks.lister.list());
  if (plan === undefined) return;
  try {
    await carryOut(client, plan);
  } catch (error) {
    // The cache is late, or somebody else has written it since.
    if (isConflict(error))
      throw new WaitingError('Conflict', 'the TrafficStack default was written meanwhile', AGAIN_MS);
    throw error;
  }
}

async function carryOut(client: Writer, plan: DefaultStackPlan): Promise<void> {
  const call = { fieldManager: FIELD_MANAGER };
  const ref = { name: DEFAULT_STACK };
  if (plan.do === 'create') {
    await client.create(TRAFFIC_STACKS, plan.stack, call);
    return;
  }
  const { uid, resourceVersion } = plan.live.metadata ?? {};
  if (plan.do === 'delete') {
    await client.delete(TRAFFIC_STACKS, ref, { preconditions: { ...(uid !== undefined && { uid }) } });
    return;
  }
  const { metadata, spec } = plan.stack;
  await client.mergePatch(TRAFFIC_STACKS, ref, { metadata: { ...metadata, resourceVersion }, spec }, call);
}
