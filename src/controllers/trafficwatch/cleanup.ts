import type { V1Deployment, V1Pod } from '@kubernetes/client-node';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../api/trafficwatch.ts';
import { FIELD_MANAGER } from './controller.ts';
import { decideOrphans } from './decide/orphans.ts';
import { releaseLabels } from './decide/nodeLabels.ts';
import { FINALIZER } from './names.ts';
import { NodeLabelWriter } from './nodeLabelWriter.ts';
import { claimedKeys } from './observe.ts';
import { trimNode, type CachedNode } from '../../nodes/cachedNode.ts';
import type { Client } from '../../runtime/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isNotFound } from '../../runtime/errors.ts';
import { hasFinalizer, removeFinalizer } from '../../runtime/finalizer.ts';
import type { Logger } from '../../runtime/logger.ts';
import { DEPLOYMENTS, NODES, PODS } from '../../runtime/resources.ts';
import { WrittenObjects } from '../../runtime/writtenObjects.ts';

/** How often is looked whether the operator's pods are gone: ms. */
const POLL_MS = 500;

export interface CleanupOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * Stops the operator, so that nothing writes labels behind the back of the clean-up, and waits until its pods are gone.
 * A Deployment that does not exist has nothing to stop.
 */
export async function stopOperator(o: CleanupOptions, namespace: string, name: string): Promise<void> {
  const deployment = await getOrUndefined(o.client, namespace, name);
  if (!deployment) return;
  o.logger.info({ deployment: `${namespace}/${name}` }, 'stopping the operator');
  await o.client.mergePatch(
    DEPLOYMENTS,
    { namespace, name },
    { spec: { replicas: 0 } },
    { fieldManager: FIELD_MANAGER },
  );
  const labels = Object.entries(deployment.spec?.selector.matchLabels ?? {});
  const labelSelector = labels.map(([key, value]) => `${key}=${value}`).join(',');
  while (!o.signal.aborted && (await runningPods(o.client, namespace, labelSelector)).length > 0) {
    await o.clock.sleep(POLL_MS, o.signal);
  }
}

async function getOrUndefined(client: Client, namespace: string, name: string): Promise<V1Deployment | undefined> {
  try {
    return await client.get(DEPLOYMENTS, { namespace, name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function runningPods(client: Client, namespace: string, labelSelector: string): Promise<V1Pod[]> {
  const pods = await client.list(PODS, { namespace, labelSelector });
  return pods.filter((pod) => pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed');
}

async function listWatches(client: Client): Promise<TrafficWatch[]> {
  try {
    return await client.list(TRAFFIC_WATCHES);
  } catch (error) {
    // No CRD, no TrafficWatches: there may still be labels.
    if (isNotFound(error)) return [];
    throw error;
  }
}

async function takeLabelsOff(o: CleanupOptions, watches: readonly TrafficWatch[]): Promise<number> {
  const trim = trimNode(FIELD_MANAGER);
  const nodes = (await o.client.list(NODES)).map(trim);
  // A watch that never owned its key has no finalizer, and its key may be a person's own.
  const keys = new Set(watches.filter((w) => hasFinalizer(w, FINALIZER)).flatMap(claimedKeys));
  const writer = new NodeLabelWriter({
    client: o.client,
    fieldManager: FIELD_MANAGER,
    trim,
    written: new WrittenObjects<CachedNode>(),
  });
  const orphaned = decideOrphans(nodes, keys);
  const released = releaseLabels(nodes, [...keys]);
  for (const changes of [released, orphaned]) {
    const failures = await writer.write(changes);
    for (const error of failures.values()) throw error;
  }
  return new Set([...released.keys(), ...orphaned.keys()]).size;
}

/**
 * Takes every label and every finalizer of the operator off, so that it can be removed without a trace and no
 * TrafficWatch hangs in its deletion. Runs as the chart's pre-delete hook; doing it twice is harmless.
 *
 * @throws ApiError, TransportError when something could not be taken off; the caller exits non-zero, and helm says so
 */
export async function cleanUp(o: CleanupOptions): Promise<{ nodes: number; watches: number }> {
  const watches = await listWatches(o.client);
  const nodes = await takeLabelsOff(o, watches);
  const finalized = watches.filter((watch) => hasFinalizer(watch, FINALIZER));
  for (const watch of finalized) await removeFinalizer(o.client, TRAFFIC_WATCHES, watch, FINALIZER, FIELD_MANAGER);
  o.logger.info({ nodes, watches: finalized.length }, 'labels and finalizers are off');
  return { nodes, watches: finalized.length };
}
