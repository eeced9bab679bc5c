import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { V1Lease } from '@kubernetes/client-node';
import type { WriteGate } from '../runtime/client/client.ts';
import { createInformer } from '../runtime/cache/informer.ts';
import { LeaderElector } from '../runtime/leaderElection/leaderElection.ts';
import { optionalCachePart } from '../runtime/manager/manager.ts';
import type { RuntimeMetrics } from '../runtime/manager/metrics.ts';
import type { Logger } from '../runtime/process/logger.ts';
import type { Part } from '../runtime/process/part.ts';
import { LEASES } from '../runtime/client/resources.ts';
import type { Transport } from '../runtime/client/transport.ts';

/** A single replica without leader election leads as long as it runs. */
const ALWAYS: WriteGate = { isLeader: true, signal: new AbortController().signal };

/** Decides whether this process may write, with the parts that must run for it. */
export interface Election {
  readonly gate: WriteGate;
  readonly parts: readonly Part[];
}

export interface ElectionOptions {
  /** The Lease that the replicas share; undefined if this process always leads. */
  readonly lease: { readonly namespace: string; readonly name: string } | undefined;
  /** The pod that this process runs in; undefined outside of a cluster. */
  readonly podName: string | undefined;
  readonly transport: Transport;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
}

/**
 * Creates the leader election among the replicas.
 *
 * @param onStarted called whenever this process starts leading
 */
export function createElection(
  { lease, podName, transport, metrics, logger }: ElectionOptions,
  onStarted: () => void,
): Election {
  if (lease === undefined) {
    metrics.leading(true);
    return { gate: ALWAYS, parts: [] };
  }
  const leases = createInformer<V1Lease>({
    transport,
    resource: LEASES,
    namespace: lease.namespace,
    fieldSelector: `metadata.name=${lease.name}`,
    logger,
    metrics: metrics.reflector,
  });
  const elector = new LeaderElector({
    ...lease,
    transport,
    leases,
    identity: `${podName ?? hostname()}_${randomUUID()}`,
    logger,
    onStartedLeading: () => {
      metrics.leading(true);
      onStarted();
    },
    onStoppedLeading: () => metrics.leading(false),
  });
  const part: Part = { name: 'election', stage: 'election', run: (signal) => elector.run(signal) };
  return { gate: elector, parts: [optionalCachePart(leases), part] };
}
