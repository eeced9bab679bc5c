import { hostname } from 'node:os';
import { leaderOnly, type Client } from '../runtime/client/client.ts';
import { countingWrites } from '../runtime/client/writeCount.ts';
import { EventRecorder } from '../runtime/controller/events.ts';
import type { RuntimeMetrics } from '../runtime/manager/metrics.ts';
import type { Logger } from '../runtime/process/logger.ts';
import type { Election } from './election.ts';

/** What the events of the operator's controllers are from. */
export const OPERATOR_COMPONENT = 'traffic.example.com/traffic-operator';

export interface LeaderClientOptions {
  /** Not gated. */
  readonly reading: Client;
  readonly election: Election;
  /** What the events are from. */
  readonly component: string;
  /** The pod that this process runs in; undefined outside of a cluster. */
  readonly podName: string | undefined;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
}

/** What controllers write with. */
export interface LeaderClient {
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
