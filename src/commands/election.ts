import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { V1Lease } from '@kubernetes/client-node';
import type { WriteGate } from '../../runtime/client/client.ts';
import { createInformer } from '../../runtime/cache/informer.ts';
import { LeaderElector } from '../../runtime/leaderElection/leaderElection.ts';
import { optionalCachePart } from '../../runtime/manager/manager.ts';
import type { Part } from '../../runtime/process/part.ts';
import { LEASES } from '../../runtime/client/resources.ts';
import { LEASE_NAME } from '../lease.ts';
import type { Process } from './options.ts';

/** A single replica without leader election leads as long as it runs. */
const ALWAYS: WriteGate = { isLeader: true, signal: new AbortController().signal };

/** Decides whether this process may write, with the parts that must run for it. */
export interface Election {
  readonly gate: WriteGate;
  readonly parts: readonly Part[];
}

/**
 * Creates the leader election among the replicas. Without --leader-elect, this process always leads.
 *
 * @param onStarted called whenever this process starts leading
 */
export function createElection({ options, transport, metrics, logger }: Process, onStarted: () => void): Election {
  if (!options.leaderElect) {
    metrics.leading(true);
    return { gate: ALWAYS, parts: [] };
  }
  const lease = { namespace: options.namespace, name: LEASE_NAME };
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
    identity: `${options.podName ?? hostname()}_${randomUUID()}`,
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
