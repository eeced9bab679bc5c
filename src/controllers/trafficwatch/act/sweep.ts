import type { ReconcileResult } from '../../../runtime/controller/controller.ts';
import { RetryError } from '../../../runtime/client/errors.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import type { Writers } from './act.ts';
import { decideOrphans } from '../decide/labels/nodeLabels.ts';
import { claimedKeys } from '../model/labelKeys.ts';
import type { Sources } from '../observe/observe.ts';

/** Requeue delay of the sweep if the caches are not synced or a write failed: ms. */
const LOOK_AGAIN_MS = 10_000;

export interface SweepOptions {
  readonly sources: Sources;
  readonly writers: Writers;
  /** True if the caches of TrafficWatches and Nodes are synced, and the CRD check allows writes. */
  readonly synced: () => boolean;
  readonly isLeader: () => boolean;
  readonly logger: Logger;
}

/**
 * Removes the labels that no TrafficWatch claims. Runs only with synced caches: an empty list of TrafficWatches must
 * mean that there are none, not that they were not read yet.
 * @throws RetryError if a label could not be removed
 */
export async function sweepOrphans(o: SweepOptions): Promise<ReconcileResult | undefined> {
  if (!o.synced()) return { requeueAfterMs: LOOK_AGAIN_MS };
  if (!o.isLeader()) return undefined;
  const claimed = new Set(o.sources.watches.list().flatMap(claimedKeys));
  const changes = decideOrphans(o.sources.nodes.list(), claimed);
  if (changes.size === 0) return undefined;
  o.logger.info({ nodes: changes.size }, 'removing labels that no TrafficWatch claims');
  const failures = await o.writers.nodeLabels.write(changes);
  if (failures.size > 0) throw new RetryError(`labels of ${failures.size} nodes could not be removed`, LOOK_AGAIN_MS);
  return undefined;
}
