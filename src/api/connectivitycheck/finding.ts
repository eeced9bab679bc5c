import type { Plane } from './terms.ts';

/**
 * Classes of findings: each class says which part of the network is at fault.
 *
 * | class | subject | meaning |
 * |---|---|---|
 * | Node | node | both planes of the node, or its kubelet |
 * | PodNetwork | node, or `cluster` | the pod network of the node, or of all nodes; the host network works |
 * | HostNetwork | node, or `cluster` | the host network of the node, or of all nodes; the pod network works |
 * | Link | `a -> b`, or `a <-> b` | packets between two nodes that both reach others |
 * | Zone | zone, or `a <-> b` | everything between a zone and the others, or between two zones |
 * | DNS | node, or `cluster` | the DNS of the cluster, for one node or for all |
 * | MTU | node, link, zone or `cluster` | small packets pass and large ones vanish |
 * | Latency | node, link, zone or `cluster` | packets arrive, and take much longer than elsewhere in the cluster |
 * | APIServer | node, or `cluster` | the Service of the API server, for one node or for all |
 * | Server | `server` | the connectivity server does not answer the operator |
 * | Server | `reports` | nearly no agent reports to the connectivity server, although the network works |
 * | Agent | pod | an agent does not run, report or listen, and the network of its node works as far as is known |
 */
export const FINDING_CLASSES = [
  'Node',
  'PodNetwork',
  'HostNetwork',
  'Link',
  'Zone',
  'DNS',
  'MTU',
  'Latency',
  'APIServer',
  'Server',
  'Agent',
] as const;
export type FindingClass = (typeof FINDING_CLASSES)[number];

/**
 * The subjects of the class Server. They differ, because the operator finds the first, and the server the second: one may
 * begin or end while the other lasts.
 */
export const SERVER_SUBJECTS = { answers: 'server', reports: 'reports' } as const;

/** The subject of a finding that affects all nodes. */
export const CLUSTER = 'cluster';

/** Failed: nothing gets through. Degraded: some packets do. */
export const SEVERITIES = ['Failed', 'Degraded'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** One pair of nodes that a finding explains. */
export interface PairEvidence {
  readonly from: string;
  readonly to: string;
  readonly plane: Plane;
  /** The measurements of the pair, for example `TCP timeout, UDP 0 of 20 echoed`. */
  readonly measured: string;
}

/** The measurements that show a fault. */
export interface Evidence {
  /** Numbers of ordered pairs of nodes on one plane: affected pairs, and pairs observed towards or from the subject. */
  readonly affectedPairs: number;
  readonly observedPairs: number;
  /** Examples of affected pairs, at most three. */
  readonly pairs: readonly PairEvidence[];
  /** Share of datagrams that were lost in the affected pairs, percent, rounded. */
  readonly lossPercent?: number;
  /** The largest packet that passes, bytes. With the class MTU. */
  readonly largestPacketBytes?: number;
}

/** A fault, and the measurements that show it. */
export interface Finding {
  readonly class: FindingClass;
  /** Sorted. */
  readonly subjects: readonly string[];
  readonly severity: Severity;
  /** One sentence for users, with names and measured values. */
  readonly message: string;
  readonly evidence: Evidence;
}
