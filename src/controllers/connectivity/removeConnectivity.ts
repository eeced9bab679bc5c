import { defaultConnectivityOptions } from '../../connectivity/objects/names.ts';
import { Applier } from '../../runtime/apply/apply.ts';
import type { Client } from '../../runtime/client/client.ts';
import { carryOut } from '../../runtime/objectSet/act.ts';
import { observeSet, readLive } from '../../runtime/objectSet/observe.ts';
import { planSet } from '../../runtime/objectSet/plan.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import { listStrangers } from '../contract/ownership.ts';
import { withoutStackOwner } from '../contract/stackOwner.ts';
import { connectivitySet } from './components/components.ts';
import { FIELD_MANAGER } from './names.ts';

/**
 * Removes all objects of this controller, the namespace of the agents last, before the operator itself is removed.
 * ConnectivityChecks stay, the first one too: they are the user's. Stop the operator first: a running operator would
 * create the objects again. Does not wait for the deletions to end.
 *
 * @param namespace the namespace of the operator
 * @returns the objects that were kept, and why
 * @throws ApiError, TransportError
 */
export async function removeConnectivity(
  client: Client,
  { namespace, logger }: { namespace: string; logger: Logger },
): Promise<readonly Problem[]> {
  const observation = await observeSet(connectivitySet(defaultConnectivityOptions(namespace)), 'all', {
    // No operator runs the stacks that may have them.
    live: async (member) => withoutStackOwner(await readLive(client, member)),
    unknown: new Set(),
    strangersIn: (where) => listStrangers(client, where),
  });
  const plan = planSet(observation);
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, logger });
  const [failure] = await carryOut(plan, { applier, client });
  if (failure !== undefined) throw failure.error;
  return plan.problems;
}
