import type { HostExplanation, TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import type { Failure } from '../../../runtime/process/problem.ts';
import type { Removal } from '../../../weights/plan/removal.ts';
import type { RampStep } from '../../../weights/ramp/ramp.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import type { ZoneDifference } from '../../../weights/zone/differences.ts';
import type { BackendView, ZoneView } from '../observe/observation.ts';
import type { Comparison } from './zones.ts';

/** The result of a reconcile. */
export interface Outcome {
  readonly spec: TrafficWeightSpec;
  /** The weight of the cluster that its backend requests. */
  readonly desiredWeight: number;
  /** The step whose weight the records got: a step of a ramp, or the desired weight. */
  readonly step: RampStep;
  /** Undefined with a static weight. */
  readonly backend?: BackendView | undefined;
  /** Whether a host has a record from its source: what is left over is no traffic. Default: whether there is any DNSEndpoint. */
  readonly hasRecords?: boolean;
  /** The hosted zones of the spec. */
  readonly zones?: readonly ZoneView[] | undefined;
  /** The zones compared with the DNSEndpoints. */
  readonly comparison?: Comparison;
  /** Without zones: the hosts that external-dns may not be able to mark. */
  readonly unmarkable?: readonly ZoneDifference[];
  readonly hosts: readonly HostExplanation[];
  /** Ingresses and HTTPRoutes with a host. */
  readonly ingresses: number;
  /** The namespace of each Ingress and HTTPRoute that is left out: see Candidate.isBeyond. */
  readonly beyond: readonly string[];
  /** See waitingOf(). */
  readonly waiting?: readonly string[];
  /** DNSEndpoints, as `namespace/name`, of the TrafficWeight that are unchanged: their source is left out or refused. */
  readonly stale?: readonly string[];
  /** The desired DNSEndpoints in their present state, by `namespace/name`; undefined if one could not be created. */
  readonly endpoints: ReadonlyMap<string, DnsEndpoint | undefined>;
  /** The writes that failed. */
  readonly failures: readonly Failure[];
  /** How many writes wait for the next round. */
  readonly left?: number;
  /** The namespaces, sorted, for which a ramp waits no longer, and the DNSEndpoints and writes of the others. Absent if it waits for all. */
  readonly behind?:
    | { readonly namespaces: readonly string[]; readonly others: Pick<Outcome, 'endpoints' | 'failures' | 'left'> }
    | undefined;
  /** The removal that waits for a confirmation. */
  readonly unconfirmed?: Removal | undefined;
  /** DNSEndpoints, as `namespace/name`, whose source was deleted without them. */
  readonly orphans?: readonly string[];
}
