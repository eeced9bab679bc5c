import { TRAFFIC_STACKS, type TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { Informer } from '../../../runtime/cache/informer.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { isConflict, WaitingError } from '../../../runtime/client/errors.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';
import { DEFAULT_STACK, FIELD_MANAGER } from '../names.ts';
import { defaultStackOf } from '../render/defaultStack.ts';

/** Until the stacks are read. ms */
const SYNC_MS = 200;

/**
 * Creates the stack `default` if there is none. What people change of it stays.
 *
 * @param client gated on leadership
 * @throws ApiError, TransportError, NotLeaderError; WaitingError while the stacks are not read
 */
export async function makeDefaultStack(
  client: Pick<Client, 'create'>,
  stacks: Pick<Informer<TrafficStack>, 'synced' | 'refusal' | 'lister'>,
  builtIns: readonly BuiltIn[],
): Promise<void> {
  // Without their CRD there are no stacks.
  if (stacks.refusal !== undefined) return;
  if (!stacks.synced) throw new WaitingError('CachesNotSynced', 'TrafficStacks are not read yet', SYNC_MS);
  if (stacks.lister.get(DEFAULT_STACK) !== undefined) return;
  const stack = defaultStackOf(builtIns, stacks.lister.list());
  if (stack === undefined) return;
  try {
    await client.create(TRAFFIC_STACKS, stack, { fieldManager: FIELD_MANAGER });
  } catch (error) {
    // The cache is late, or somebody else has created it since.
    if (!isConflict(error)) throw error;
  }
}
