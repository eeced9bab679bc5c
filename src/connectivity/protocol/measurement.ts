import type { Plane } from '../../api/connectivitycheck/terms.ts';

/**
 * The measurement between nodes by agents of this program: the field `connectivity` of a report. The original agent does
 * not send it, and neither the API nor the stores keep it.
 */

/**
 * Why a connection or a request failed. `Refused`: the peer's network answered, but no program listens there.
 * `TooLarge`: the local interface does not send a packet of this size.
 */
export const PROBE_ERRORS = ['Timeout', 'Refused', 'Unreachable', 'Reset', 'TooLarge', 'NotFound', 'Other'] as const;
export type ProbeError = (typeof PROBE_ERRORS)[number];

/** The result of a request to one peer by HTTP over TCP, on a new connection. */
export interface TcpResult {
  readonly ok: boolean;
  /** From the start to the end of the response, ms. Absent if it failed. */
  readonly ms?: number;
  /** Absent if it succeeded. */
  readonly error?: ProbeError;
}

/** The largest number of datagrams in a measurement, sent, received or heard. */
export const MOST_DATAGRAMS = 1_000_000;

/** The result of a run of UDP datagrams that the peer echoes. */
export interface UdpResult {
  readonly sent: number;
  readonly received: number;
  /** Median round-trip time, ms. Absent if none was received. */
  readonly ms?: number;
  /** Why none could be sent or received, where the system said so. */
  readonly error?: ProbeError;
}

/** The largest packet that passes. Sizes are bytes of the IP packet, headers included. */
export interface MtuResult {
  /** MTU of the local interface towards the peer: the largest size that was tried. */
  readonly interface: number;
  /** The largest size that was echoed. Equal to `interface` if all pass. */
  readonly largest: number;
}

/** A measurement towards one address of another node's agent, on the same plane. */
export interface PeerResult {
  /** Node of the peer. */
  readonly node: string;
  /** IPv4 or IPv6 address. */
  readonly address: string;
  readonly tcp: TcpResult;
  readonly udp: UdpResult;
  /** Absent if it was not measured, for example since no small packet passes. */
  readonly mtu?: MtuResult;
}

/** Services of the cluster that agents probe. Only host agents probe the `Kubelet`, each on its own node. */
export const TARGETS = ['APIServer', 'DNSUDP', 'DNSTCP', 'Kubelet'] as const;
export type Target = (typeof TARGETS)[number];

/** A measurement towards a service of the cluster. */
export interface TargetResult {
  readonly target: Target;
  /** Address and port that was asked. */
  readonly address: string;
  readonly ok: boolean;
  readonly ms?: number;
  readonly error?: ProbeError;
}

/**
 * Why an agent does not request an address: it leads to the node of the agent, or to a service of the cloud that hands out
 * credentials to whoever reaches it. See docs/security.md.
 */
export const TARGET_REFUSALS = [
  'Loopback',
  'LinkLocal',
  'OwnAddress',
  'Unspecified',
  'Multicast',
  'Broadcast',
  'CloudMetadata',
] as const;
export type TargetRefusal = (typeof TARGET_REFUSALS)[number];

/** A URL that an agent did not request, or whose redirect it did not follow. It says nothing about the network. */
export interface RefusedUrl {
  /** As the check has it. */
  readonly url: string;
  /** The address that the URL, or a redirect, leads to. */
  readonly address: string;
  readonly reason: TargetRefusal;
}

/** The measurement of one agent in its last interval. */
export interface Measurement {
  readonly plane: Plane;
  /** Port on which the agent answers HTTP and echoes UDP, on all addresses of its pod. */
  readonly port: number;
  readonly peers: readonly PeerResult[];
  readonly targets: readonly TargetResult[];
  /** Absent if none was refused. */
  readonly refused?: readonly RefusedUrl[];
  /**
   * Datagrams that came from the agents of other nodes since the last report, by node. If a node sent and nothing was
   * heard, the direction towards this agent is cut; the echo alone cannot say which direction is.
   */
  readonly heard: Readonly<Record<string, number>>;
  /** Time from the start of the measurement to the start of the report, ms. Absent: not known. */
  readonly tookMs?: number;
}

/** A peer that an agent is to probe. */
export interface Peer {
  readonly node: string;
  /** Addresses of the peer's agent on the same plane: one for each address family of its pod. */
  readonly addresses: readonly string[];
  readonly port: number;
}

/** The most URLs of an assignment, for all checks of a node together: an agent requests each in every interval. */
export const MOST_ASSIGNED_URLS = 50;

/** The task of an agent until its next report: the answer to a report that has a measurement. */
export interface Assignment {
  /** Seconds between two reports, which takes the place of `-reportinterval`; absent: as the flag says. */
  readonly intervalSeconds?: number;
  readonly peers: readonly Peer[];
  readonly probes: { readonly dns: boolean; readonly apiServer: boolean; readonly mtu: boolean };
  /** URLs to request in addition to `-probeurls`. */
  readonly urls: readonly string[];
}
