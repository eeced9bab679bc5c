import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { StatusWriter } from '../../../runtime/status/statusWriter.ts';
import type { Plan } from '../decide/plan.ts';
import { placementEntryOf, namesBeforeLabels } from '../decide/workload/podPlacement.ts';
import type { PodPlacements } from './podPlacements.ts';

/**
 * How long the names precede the labels: ms. The API server's policy reads PodPlacements from a cache that is some
 * milliseconds behind, and stores a pod some milliseconds after the policy has seen it; the rest is reserve. A label is
 * written 15 to 35 s after its traffic, so one second more does not count.
 */
export const NAMES_PRECEDE_LABELS_MS = 1_000;

interface Writers {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly statuses: Pick<StatusWriter<TrafficWatch>, 'newest' | 'write'>;
  readonly placements: Pick<PodPlacements, 'placedOf' | 'sync'>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * With AtCreation: writes the names of nodes that turn unfit into the status and the PodPlacement, and resolves when the
 * policy uses them, so that their labels can be written. A failed write is ignored, and so is one that waits because the
 * namespace has changed too often: a label that comes too late would be worse, and the status at the end has the names too.
 */
export async function nameUnfitFirst(about: TrafficWatch, { avoided }: Plan, writers: Writers): Promise<void> {
  if (avoided === undefined) return;
  const { clock, statuses, placements, signal } = writers;
  const key = keyOf(about);
  const watch = statuses.newest(key) ?? about;
  const avoidedNodes = namesBeforeLabels(watch.status?.avoidedNodes ?? [], avoided);
  const placed = placements.placedOf(key).entry?.avoidedNodes ?? [];
  const isPlaced = placementEntryOf(watch) === undefined || namesBeforeLabels(placed, avoided) === undefined;
  if (avoidedNodes === undefined && isPlaced) return;
  try {
    if (avoidedNodes !== undefined) await statuses.write(watch, { ...watch.status, avoidedNodes }, { signal });
    await placements.sync(watch.metadata?.namespace ?? '');
  } catch {
    return;
  }
  await clock.sleep(NAMES_PRECEDE_LABELS_MS, signal);
}
