import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { V1Lease } from '@kubernetes/client-node';
import { type WriteGate, leaderOnly, type Client, countingWrites } from '../runtime/client/client.ts';
import { createInformer } from '../runtime/cache/informer.ts';
import { LeaderElector } from '../runtime/leaderElection/leaderElection.ts';
import { optionalCachePart } from '../runtime/manager/manager.ts';
import type { RuntimeMetrics } from '../runtime/manager/metrics.ts';
import type { Logger } from '../runtime/process/logger.ts';
import type { Part } from '../runtime/process/part.ts';
import { LEASES } from '../runtime/client/resources.ts';
import type { Transport } from '../runtime/client/transport.ts';
import { EventRecorder } from '../runtime/controller/events.ts';

/** Name of the Lease for leader election of the manager, in the operator's namespace. */
export const LEASE_NAME = 'traffic-operator';

/** The same for the command `trafficweights`. */
export const WEIGHTS_LEASE_NAME = 'traffic-operator-weights';

/** A single replica without leader election leads as long as it runs. */
const ALWAYS: WriteGate = { isLeader: true, signal: new AbortController().signal };

/** Decides whether this process may write, with the parts that must run for it. */
export interface Election {
  readonly gate: WriteGate;
  readonly parts: readonly Part[];
}

interface ElectionOptions {
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

/** The component that the events of the operator's controllers name. */
export const OPERATOR_COMPONENT = 'traffic.example.com/traffic-operator';

interface LeaderClientOptions {
  /** Not gated. */
  readonly reading: Client;
  readonly election: Election;
  /** The component that the events name. */
  readonly component: string;
  /** The pod that this process runs in; undefined outside of a cluster. */
  readonly podName: string | undefined;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
}

/** The means to write objects and events. */
interface LeaderClient {
  /** Rejects writes while this process does not lead, and counts the others. */
  readonly client: Client;
  readonly events: EventRecorder;
  readonly isLeader: () => boolean;
}

/** Creates what controllers write with. */
export function createLeaderClient(options: LeaderClientOptions): LeaderClient {
  const { reading, election, component, podName, metrics, logger } = options;
  const client = countingWrites(leaderOnly(reading, election.gate), metrics.writes);
  const instance = podName ?? hostname();
  return {
    client,
    events: new EventRecorder({ client, component, instance, logger, metrics: metrics.events }),
    isLeader: () => election.gate.isLeader,
  };
}

/** The pod that this process runs in; undefined outside of a cluster. */
export function podNameOf({ POD_NAME }: Readonly<Record<string, string | undefined>>): string | undefined {
  return POD_NAME === '' ? undefined : POD_NAME;
}
