import { Applier } from '../../runtime/apply/apply.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { carryOut } from '../../runtime/objectSet/act.ts';
import { observeSet, readLive } from '../../runtime/objectSet/observe.ts';
import { planSet } from '../../runtime/objectSet/plan.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import { measurementSet } from './components/components.ts';
import { FIELD_MANAGER } from './names.ts';
import { listStrangers } from '../contract/ownership.ts';
import { withoutStackOwner } from '../contract/stackOwner.ts';
import { defaultMeasurementOptions } from './options.ts';

/**
 * Removes all objects of this controller, the namespace of node-exporter last, before the operator itself is removed.
 * Stop the operator first: a running operator would create the objects again. Does not wait for the deletions to end.
 *
 * @param namespace the namespace of the operator
 * @returns the objects that were kept, and why
 * @throws ApiError, TransportError
 */
export async function removeMeasurement(
  client: Client,
  { namespace, logger }: { namespace: string; logger: Logger },
): Promise<readonly Problem[]> {
  const options = defaultMeasurementOptions(namespace);
  options.prometheus.enabled = false;
  // The claim is found by its name, so its size does not matter.
  options.prometheus.volume = { kind: 'claim', size: '1Gi' };
  const observation = await observeSet(measurementSet(options), 'all', {
    // No operator runs the stacks that may own them.
    live: async (member) => withoutStackOwner(await readLive(client, member)),
    unknown: new Set(),
    strangersIn: (where) => listStrangers(client, where),
  });
  const plan = planSet(observation);
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, logger });
  const failures = await carryOut(plan, { applier, client });
  if (failures[0] !== undefined) throw failures[0].error;
  return plan.problems;
}
