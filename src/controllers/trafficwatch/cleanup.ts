import { failureOf } from './failures.ts';
import { IncompleteError, RetryError } from '../../runtime/client/errors.ts';
import { POD_PLACEMENT_NAME, POD_PLACEMENTS } from '../../api/podplacement/schema.ts';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../api/trafficwatch/schema.ts';
import { decideOrphans, releaseLabels } from './decide/labels/nodeLabels.ts';
import type { CleanupContext } from '../contract/context.ts';
import { FIELD_MANAGER, FINALIZER } from './names.ts';
import { NodeLabelWriter } from './act/nodeLabelWriter.ts';
import { BEHIND_MS, isBehind } from './act/writeCall.ts';
import type { LabelChange, LabelChanges } from './model/label.ts';
import { namespaceOfKey } from '../../api/trafficwatch/labelKey.ts';
import { claimedKeys } from './model/labelKeys.ts';
import { trimNode } from '../../nodes/cachedNode.ts';
import { listServed } from '../../runtime/client/client.ts';
import { hasFinalizer, removeFinalizer } from '../../runtime/apply/finalizer.ts';
import { NODES } from '../../runtime/client/resources.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { Writers } from './act/act.ts';
import type { Sources } from './observe/observe.ts';

/** Requeue delay of the sweep if the caches are not synced or a write failed: ms. */
const LOOK_AGAIN_MS = 10_000;

interface SweepOptions {
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
 * @throws RetryError if a label could not be removed; NotLeaderError
 */
export async function sweepOrphans(o: SweepOptions): Promise<ReconcileResult | undefined> {
  if (!o.synced()) return { requeueAfterMs: LOOK_AGAIN_MS };
  if (!o.isLeader()) return undefined;
  const claimed = new Set(o.sources.watches.list().flatMap(claimedKeys));
  const changes = decideOrphans(o.sources.nodes.list(), claimed);
  if (changes.size === 0) return undefined;
  o.logger.info({ nodes: changes.size }, 'removing labels that no TrafficWatch claims');
  const errors = await removeOrphans(o, changes);
  const failed = errors.filter(([, error]) => !isBehind(error));
  if (failed.length > 0) {
    const cause = new IncompleteError(failed.map(([node, error]) => failureOf(`labelling node ${node}`, error)));
    throw new RetryError(`labels of ${failed.length} nodes could not be removed`, LOOK_AGAIN_MS, { cause });
  }
  return errors.length > 0 ? { requeueAfterMs: BEHIND_MS } : undefined;
}

/**
 * Removes labels from the allowance of the namespace in their key: its users leave them by removing finalizers. Keys that name no namespace
 * share one allowance.
 * @returns the errors, with their nodes
 */
async function removeOrphans(
  { sources, writers }: SweepOptions,
  changes: LabelChanges,
): Promise<[node: string, error: unknown][]> {
  const nodes = sources.nodes.list().length;
  const writes = [...byNamespace(changes)].map(([namespace, own]) =>
    writers.nodeLabels.write(own, undefined, { namespace, nodes, urgent: new Set() }),
  );
  return (await Promise.all(writes)).flatMap((failures) => [...failures]);
}

function byNamespace(changes: LabelChanges): Map<string, Map<string, LabelChange>> {
  const all = new Map<string, Map<string, LabelChange>>();
  // Most nodes share one change: split it once.
  const split = new Map<LabelChange, ReadonlyMap<string, LabelChange>>();
  for (const [node, change] of changes) {
    const parts = split.get(change) ?? partsOf(change);
    split.set(change, parts);
    for (const [namespace, part] of parts) {
      all.set(namespace, (all.get(namespace) ?? new Map<string, LabelChange>()).set(node, part));
    }
  }
  return all;
}

function partsOf(change: LabelChange): Map<string, LabelChange> {
  const entries = Map.groupBy(Object.entries(change), ([key]) => namespaceOfKey(key));
  return new Map([...entries].map(([namespace, own]) => [namespace, Object.fromEntries(own)]));
}

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
