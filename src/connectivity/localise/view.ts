import type { Exclusion, Plane } from '../../api/connectivitycheck/terms.ts';
import type { PeerResult, Target, TargetResult } from '../protocol/measurement.ts';

/** A node that a check selects. */
export interface NodeView {
  readonly name: string;
  /** Its label topology.kubernetes.io/zone. */
  readonly zone?: string;
  /**
   * Set while the node comes, goes or is being maintained. Pairs with it say nothing. Keep it set for two intervals after
   * the cause has ended: the last reports of other agents are that old, and tell of the time before.
   */
  readonly excluded?: Exclusion;
}

/** The measurement before the last one. */
export interface MeasurementBefore {
  readonly measuredAt: number;
  readonly reportedAt: number;
  /** Peers and targets that did not work without a flaw. All others did, but for those that were not probed. */
  readonly peers: readonly PeerResult[];
  readonly targets: readonly TargetResult[];
  /** Nodes and targets of the last measurement that this one did not probe. Peers rotate; checks change. */
  readonly unprobed: readonly string[];
  readonly unasked: readonly Target[];
}

/** When an agent measured: ms of one monotonic clock. */
export interface MeasurementTimes {
  /** Start of the last measurement. */
  readonly measuredAt: number;
  readonly reportedAt: number;
  /** Absent if the last one is the first, or more than two intervals lie between them. */
  readonly before?: MeasurementBefore;
}

/**
 * What is known of the agent of one node and plane.
 *
 * | state | pod | last report |
 * |---|---|---|
 * | Reporting | running | within two intervals |
 * | Silent | running | older, or none although there was time for one |
 * | Starting | running, or to be scheduled | none yet, and no time for one |
 * | Broken | should run, and does not, or not for long | none, or older |
 * | Absent | ended, or being deleted | |
 *
 * `peers`, `targets` and `heard` are those of the last report, and empty unless the agent is Reporting.
 */
export interface AgentView {
  readonly node: string;
  readonly plane: Plane;
  readonly pod: string;
  readonly state: 'Reporting' | 'Silent' | 'Starting' | 'Broken' | 'Absent';
  /** Why its pod does not run, with Broken. */
  readonly problem?: string;
  /**
   * The pod started less than two intervals ago; only agents that are Starting or Reporting have it, since two intervals
   * of silence are longer. Reports of other agents may still tell of the pod before it, or of the
   * time before it listened; so pairs with it count if they work, and say nothing if they do not.
   */
  readonly recent?: boolean;
  /** Absent: all measurements count as made at the same time. */
  readonly times?: MeasurementTimes;
  /** Of a silent agent, when its next report was due, by the same clock. Absent if it never reported, or is not known. */
  readonly dueAt?: number;
  /**
   * Nodes that the agent was assigned since a link to them is affected, and may not have measured yet: see `KeptLinks`.
   * Absent: none.
   */
  readonly awaited?: readonly string[];
  /** Whether the server assigned a node to the agent lately: see `AssignedPeers`. Absent: not known. */
  readonly watches?: (node: string) => boolean;
  readonly peers: readonly PeerResult[];
  readonly targets: readonly TargetResult[];
  /**
   * Nodes whose datagrams came since the report before, as the agent says. Any pod can send datagrams in the name of a node,
   * and an agent can report any name. So they count only with `watches` of the agent that sent them.
   */
  readonly heard: readonly string[];
}

/** The names of the nodes that may have findings: those that are not left out. */
export function checkedNodes({ nodes }: Pick<ClusterView, 'nodes'>): ReadonlySet<string> {
  return new Set(nodes.flatMap(({ name, excluded }) => (excluded === undefined ? [name] : [])));
}

/** What a finding needs. */
export interface Thresholds {
  /** Lost datagrams of a pair, in percent, from which on it is Degraded. */
  readonly lossPercent: number;
}

/** The whole cluster at one moment: the input of the localisation. */
export interface ClusterView {
  readonly nodes: readonly NodeView[];
  readonly agents: readonly AgentView[];
  readonly thresholds: Thresholds;
  /** The node that runs the connectivity server, where reports go on the pod network. */
  readonly serverNode?: string;
}
