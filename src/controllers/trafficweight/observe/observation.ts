import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { Failure } from '../../../runtime/process/problem.ts';
import type { BackendWeights } from '../../../weights/backend/backend.ts';
import type { Source } from '../../../weights/records/source.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import type { Zone } from '../../../weights/zone/recordSets.ts';

/** The last results of reading and acknowledging the weight of a backend. */
export interface BackendView {
  /** The last weights read; undefined before the first successful read. */
  readonly weights?: BackendWeights;
  /** Why the last read failed; undefined if it succeeded. */
  readonly failure?: Failure;
  /** Why the acknowledgement failed; undefined if it did not, or another weight is requested by now. */
  readonly unacknowledged?: Failure;
}

/** The last results of reading a hosted zone. Without `zone` and `failure`, it is being read for the first time. */
export interface ZoneView {
  readonly id: string;
  /** The last zone read; undefined before the first successful read. */
  readonly zone?: Zone;
  /** When the read of `zone` began, ms since 1970: earlier changes that external-dns published are in it. */
  readonly readFrom?: number;
  /** Why the last read failed, for users; undefined if it succeeded. */
  readonly failure?: string;
  /** With a failure: the time of the last successful read, RFC 3339; undefined before the first. */
  readonly lastRead?: string;
}

/** A source, and the facts that selectors use. */
export interface Candidate {
  readonly source: Source;
  /** The class of an Ingress, or the classes of the Gateways of an HTTPRoute. */
  readonly classNames: readonly string[];
  /** Whether all its hosts are known: not while a parent of an HTTPRoute has neither accepted nor refused it. */
  readonly isKnown: boolean;
  /** Why not, for users, and the host names of the route; empty: the host names of its listeners. Absent if they are known. */
  readonly open?: { readonly why: string; readonly hostnames: readonly string[] };
  /**
   * Whether it is too large: the cache has no room for it or for its DNSEndpoint, since the objects of its namespace take too much memory,
   * or it has more hosts than fit into a DNSEndpoint. Then nothing is decided about it.
   */
  readonly isBeyond: boolean;
  /** Labels of its namespace; undefined if the namespace is not known yet. */
  readonly namespaceLabels: Readonly<Record<string, string>> | undefined;
}

/** The state of the cluster that a reconcile uses. Keys are `namespace/name`. */
export interface Observation {
  /** All TrafficWeights that are not being deleted. */
  readonly weights: readonly TrafficWeight[];
  readonly candidates: readonly Candidate[];
  readonly endpointOf: (key: string) => DnsEndpoint | undefined;
  readonly owned: readonly DnsEndpoint[];
  /** Returns the TrafficWeight in the label of a source's DNSEndpoint, if any. */
  readonly labelOf: (source: Source) => string | undefined;
  /** Whether a TrafficWeight of this name exists. */
  readonly isOwner: (name: string) => boolean;
  /** Whether a Service, as `namespace/name`, has a ready endpoint. */
  readonly isReady: (key: string) => boolean;
}
