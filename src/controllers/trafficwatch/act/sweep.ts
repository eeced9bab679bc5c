import type { ReconcileResult } from '../../../runtime/controller/controller.ts';
import { RetryError } from '../../../runtime/client/errors.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import type { Writers } from './act.ts';
import { decideOrphans } from '../decide/labels/orphans.ts';
import { claimedKeys, type Sources } from '../observe/observe.ts';

/** How soon the sweep looks again when the caches were not complete or a write failed: ms. */
const LOOK_AGAIN_MS = 10_000;

export interface SweepOptions {
  readonly sources: Sources;
  readonly writers: Writers;
  /** True when the caches of TrafficWatches and Nodes are complete: what is not in them does not exist. */
  readonly synced: () => boolean;
  readonly isLeader: () => boolean;
  readonly logger: Logger;
}

/**
 * Takes off the labels that no TrafficWatch answers for. Only with complete caches: an empty list of TrafficWatches
 * must mean that there are none, not that they were not read yet.
 * @throws RetryError when a label could not be taken off
 */
export async function sweepOrphans(o: SweepOptions): Promise<ReconcileResult | undefined> {
  if (!o.synced()) return { requeueAfterMs: LOOK_AGAIN_MS };
  if (!o.isLeader()) return undefined;
  const claimed = new Set(o.sources.watches.list().flatMap(claimedKeys));
  const changes = decideOrphans(o.sources.nodes.list(), claimed);
  if (changes.size === 0) return undefined;
  o.logger.info({ nodes: changes.size }, 'taking off labels that no TrafficWatch answers for');
  const failures = await o.writers.nodeLabels.write(changes);
  if (failures.size > 0) throw new RetryError(`labels of ${failures.size} nodes could not be taken off`, LOOK_AGAIN_MS);
  return undefined;
}
