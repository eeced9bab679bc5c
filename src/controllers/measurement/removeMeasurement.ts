import { Applier } from '../../runtime/apply/apply.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { carryOut } from '../../runtime/objectSet/act.ts';
import { observeSet, readLive } from '../../runtime/objectSet/observe.ts';
import { planSet } from '../../runtime/objectSet/plan.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import { measurementSet } from './components/components.ts';
import { FIELD_MANAGER } from './names.ts';
import { listStrangers } from './observe/observe.ts';
import { defaultMeasurementOptions } from './options.ts';

/**
 * Takes away what the operator measured with: all that is ours, the exporter's namespace last, and nothing else. For
 * when the operator itself goes. An operator that still runs would make it all again: end it first.
 *
 * Deletions are asked for, not waited for.
 *
 * @param namespace the operator's own
 * @returns what was left, and why
 * @throws ApiError, TransportError
 */
export async function removeMeasurement(
  client: Client,
  { namespace, logger }: { namespace: string; logger: Logger },
): Promise<readonly Problem[]> {
  const options = defaultMeasurementOptions(namespace);
  options.prometheus.enabled = false;
  // Whatever its size: it is known by its name, and there may be one.
  options.prometheus.volume = { kind: 'claim', size: '1Gi' };
  const observation = await observeSet(measurementSet(options), 'all', {
    live: (member) => readLive(client, member),
    unknown: new Set(),
    strangersIn: (where) => listStrangers(client, where),
  });
  const plan = planSet(observation);
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, logger });
  const failures = await carryOut(plan, { applier, client });
  if (failures[0] !== undefined) throw failures[0].error;
  return plan.problems;
}
