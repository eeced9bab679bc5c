import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { Failure } from '../../../runtime/status/failure.ts';
import type { BackendWeights } from '../../../weights/backend/backend.ts';
import type { Source } from '../../../weights/records/source.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import type { Zone } from '../../../weights/zone/recordSets.ts';

/** What is known of the weight that a backend has. */
export interface BackendView {
  /** What was read last; undefined if nothing ever was. */
  readonly weights?: BackendWeights;
  /** Why the last read failed; undefined if it succeeded. */
  readonly failure?: Failure;
  /** Why the backend could not be told that the weight is in force; undefined if it could, or another one is desired. */
  readonly unacknowledged?: Failure;
}

/** What is known of a hosted zone. Without `zone` and `failure`, it is being read for the first time. */
export interface ZoneView {
  readonly id: string;
  /** What was read last; undefined if nothing ever was. */
  readonly zone?: Zone;
  /** Why the last read failed, for users; undefined if it succeeded. */
  readonly failure?: string;
  /** With a failure: when it was read before, RFC 3339; undefined if it never was. */
  readonly lastRead?: string;
}

/** A source, and what selects it. */
export interface Candidate {
  readonly source: Source;
  /** The class of an Ingress, or those of the Gateways of an HTTPRoute. */
  readonly classNames: readonly string[];
  /** Whether its hosts are known: not while an HTTPRoute has no status, or its Gateway is missing. */
  readonly isKnown: boolean;
  /**
   * Whether it is too large: the cache has no room for it or for its DNSEndpoint, since those of its namespace take too much memory, or it has
   * more hosts than a DNSEndpoint has room for. Then nothing is decided about it.
   */
  readonly isBeyond: boolean;
  /** Labels of its namespace; undefined if the namespace is not known yet. */
  readonly namespaceLabels: Readonly<Record<string, string>> | undefined;
}

/** What a reconcile sees of the cluster. Keys are `namespace/name`. */
export interface Observation {
  /** All that are not being deleted. */
  readonly weights: readonly TrafficWeight[];
  readonly candidates: readonly Candidate[];
  readonly endpointOf: (key: string) => DnsEndpoint | undefined;
  readonly owned: readonly DnsEndpoint[];
  /** The TrafficWeight that the DNSEndpoint of a source is of, if any. */
  readonly labelOf: (source: Source) => string | undefined;
  /** Whether a TrafficWeight of this name exists. */
  readonly isOwner: (name: string) => boolean;
  /** Whether a Service, as `namespace/name`, has a ready endpoint. */
  readonly isReady: (key: string) => boolean;
}
