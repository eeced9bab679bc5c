import { TRAFFIC_STACKS } from '../../api/trafficstack/trafficStack.ts';
import { hasFinalizer, removeFinalizer } from '../../runtime/apply/finalizer.ts';
import { listServed } from '../../runtime/client/client.ts';
import type { CleanupContext } from '../contract/context.ts';
import { FIELD_MANAGER, FINALIZER } from './names.ts';
import { isOfOperator } from './render/defaultStack.ts';

/**
 * Removes the finalizer of all TrafficStacks, which nobody would remove without the operator. Their workloads go on running, as the
 * Deployments of TrafficWatches do; the clean-ups of other controllers remove built-in components. Deletes the stack `default`, if it is
 * the operator's. Idempotent.
 *
 * @throws ApiError, TransportError
 */
export async function cleanUp({ client, logger }: Pick<CleanupContext, 'client' | 'logger'>): Promise<void> {
  const stacks = await listServed(client, TRAFFIC_STACKS);
  const finalized = stacks.filter((stack) => hasFinalizer(stack, FINALIZER));
  for (const stack of finalized) await removeFinalizer(client, TRAFFIC_STACKS, stack, FINALIZER, FIELD_MANAGER);
  for (const { metadata } of stacks.filter(isOfOperator)) {
    await client.delete(TRAFFIC_STACKS, { name: metadata?.name ?? '' });
  }
  if (finalized.length > 0) logger.info({ stacks: finalized.length }, 'finalizers of TrafficStacks are off');
}
