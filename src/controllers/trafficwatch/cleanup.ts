import { POD_PLACEMENT_NAME, POD_PLACEMENTS } from '../../api/podplacement/schema.ts';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../api/trafficwatch/schema.ts';
import { decideOrphans, releaseLabels } from './decide/labels/nodeLabels.ts';
import type { CleanupContext } from '../contract/context.ts';
import { FIELD_MANAGER, FINALIZER } from './names.ts';
import { NodeLabelWriter } from './act/nodeLabelWriter.ts';
import { claimedKeys } from './model/labelKeys.ts';
import { trimNode } from '../../nodes/cachedNode.ts';
import { listServed } from '../../runtime/client/listServed.ts';
import { hasFinalizer, removeFinalizer } from '../../runtime/apply/finalizer.ts';
import { NODES } from '../../runtime/client/resources.ts';

async function removeLabels(
  o: Pick<CleanupContext, 'client' | 'logger'>,
  watches: readonly TrafficWatch[],
): Promise<number> {
  const trim = trimNode(FIELD_MANAGER);
  const nodes = (await o.client.list(NODES)).map(trim);
  // A TrafficWatch without our finalizer never owned its key. Labels under that key may belong to a person.
  const keys = new Set(watches.filter((w) => hasFinalizer(w, FINALIZER)).flatMap(claimedKeys));
  const writer = new NodeLabelWriter({ client: o.client, fieldManager: FIELD_MANAGER, trim });
  const orphaned = decideOrphans(nodes, keys);
  const released = releaseLabels(nodes, [...keys]);
  for (const changes of [released, orphaned]) {
    const failures = await writer.write(changes);
    for (const error of failures.values()) throw error;
  }
  return new Set([...released.keys(), ...orphaned.keys()]).size;
}

/** The only PodPlacements that there are. The right to list them is limited to the name. */
const PLACEMENTS = { fieldSelector: `metadata.name=${POD_PLACEMENT_NAME}` };

async function removePlacements(client: CleanupContext['client']): Promise<void> {
  for (const { metadata } of await listServed(client, POD_PLACEMENTS, PLACEMENTS)) {
    await client.delete(POD_PLACEMENTS, { namespace: metadata?.namespace, name: POD_PLACEMENT_NAME });
  }
}

/**
 * Removes all PodPlacements, labels and finalizers of the operator, so that it leaves no trace and no TrafficWatch blocks its own
 * deletion. Runs as the chart's pre-delete hook. Idempotent.
 *
 * @returns the number of nodes from which labels, and of TrafficWatches from which finalizers, were removed
 * @throws ApiError, TransportError if a removal failed; the caller exits non-zero, and helm reports it
 */
export async function cleanUp(
  o: Pick<CleanupContext, 'client' | 'logger'>,
): Promise<{ nodes: number; watches: number }> {
  // Without the CRD there are no TrafficWatches, but there may still be labels.
  const watches = await listServed(o.client, TRAFFIC_WATCHES);
  const nodes = await removeLabels(o, watches);
  await removePlacements(o.client);
  const finalized = watches.filter((watch) => hasFinalizer(watch, FINALIZER));
  for (const watch of finalized) await removeFinalizer(o.client, TRAFFIC_WATCHES, watch, FINALIZER, FIELD_MANAGER);
  o.logger.info({ nodes, watches: finalized.length }, 'labels and finalizers are off');
  return { nodes, watches: finalized.length };
}
