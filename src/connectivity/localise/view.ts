import type { Exclusion, Plane } from '../../api/connectivitycheck/terms.ts';
import type { Assignment, PeerResult, Target, TargetResult } from '../protocol/measurement.ts';
import type { Family } from './pairs/quality.ts';

/** A node that a check selects. */
export interface NodeView {
  readonly name: string;
  /** Its label topology.kubernetes.io/zone. */
  readonly zone?: string;
  /**
   * Set while the node comes, goes or is being maintained. Pairs with it do not count. Keep it set for two intervals after
   * the cause has ended: the last reports of other agents may be that old, with results of the time before.
   */
  readonly excluded?: Exclusion;
}

/** The measurement before the last one. */
export interface MeasurementBefore {
  readonly measuredAt: number;
  readonly reportedAt: number;
  /** Results with a flaw: peers and targets that failed, lost packets or lost large packets. Other probes worked. */
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
 * The server's knowledge of the agent of one node and plane.
 *
 * | state | pod | last report |
 * |---|---|---|
 * | Reporting | running | within two intervals |
 * | Silent | running | older, or none although there was time for one |
 * | Starting | running, or to be scheduled | none yet, and no time for one |
 * | Broken | should run, and does not, or not for long | none, or older |
 * | Absent | ended, or being deleted | |
 *
 * `peers`, `targets` and `heard` come from the last report, and are empty unless the agent is Reporting.
 */
export interface AgentView {
  readonly node: string;
  readonly plane: Plane;
  readonly pod: string;
  readonly state: 'Reporting' | 'Silent' | 'Starting' | 'Broken' | 'Absent';
  /** Why its pod does not run, with Broken. */
  readonly problem?: string;
  /**
   * The pod started less than two intervals ago. Only agents that are Starting or Reporting have it, since two intervals
   * of silence are longer. Reports of other agents may still have results of the pod before it, or of the
   * time before it listened; so pairs with it count if they work, and do not count if they fail.
   */
  readonly recent?: boolean;
  /**
   * It reports, and its pod started two intervals ago or earlier, but its last report has no result that counts, although the server
   * assigns peers to it.
   */
  readonly isBlind?: boolean;
  /** Absent: all measurements count as made at the same time. */
  readonly times?: MeasurementTimes;
  /** When the next report of a silent agent was due, by the same clock. Absent if it never reported, or if that is not known. */
  readonly dueAt?: number;
  /**
   * Nodes that the agent was assigned since a link to them is affected, and may not have measured yet: see `SuspectLinks`.
   * Absent: none.
   */
  readonly awaited?: readonly string[];
  /** Whether the server assigned a node to the agent lately: see `AssignedPeers`. Absent: not known, so that all its results count. */
  readonly watches?: (node: string) => boolean;
  readonly peers: readonly PeerResult[];
  readonly targets: readonly TargetResult[];
  /**
   * Nodes whose datagrams came since the report before, as the agent says. Any pod can send datagrams in the name of a node,
   * and an agent can report any name. So they count only with `watches` of the agent that sent them.
   */
  readonly heard: readonly string[];
}

/** Returns the names of the nodes that may have findings: nodes that are not left out. */
export function checkedNodes({ nodes }: Pick<ClusterView, 'nodes'>): ReadonlySet<string> {
  return new Set(nodes.flatMap(({ name, excluded }) => (excluded === undefined ? [name] : [])));
}

/** The limits from which on a measurement is a finding. */
export interface Thresholds {
  /** Lost datagrams of a pair, in percent, from which on it is Degraded. */
  readonly lossPercent: number;
}

/** The parts of the network that a check asks for. */
export interface Asked {
  readonly planes: readonly Plane[];
  readonly probes: Assignment['probes'];
  /** Address families of more than half of the agents, and of two at least. */
  readonly families: Readonly<Record<Plane, readonly Family[]>>;
}

/** The whole cluster at one moment: the input of the localisation. */
export interface ClusterView {
  readonly nodes: readonly NodeView[];
  readonly agents: readonly AgentView[];
  readonly thresholds: Thresholds;
  /** Absent in simulations: then nothing is unmeasured. */
  readonly asked?: Asked;
  /** The node that runs the connectivity server, where reports go on the pod network. */
  readonly serverNode?: string;
}
