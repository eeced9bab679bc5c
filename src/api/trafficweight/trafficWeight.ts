import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import type { Condition } from '../../runtime/controller/conditions.ts';
import type { LabelSelector } from '../labelSelector.ts';
import type {
  Acknowledge,
  GateResultName,
  HostReason,
  RampDirection,
  RampPhase,
  Rollback,
  SourceKind,
} from './terms.ts';

/** The spec of a TrafficWeight: the fields that users write. */
export interface TrafficWeightSpec {
  /** Set identifier of the records. */
  clusterName: string;
  /** Absent or empty: hosts of all domains. */
  bindingDomain?: string | undefined;
  /** `key=value` of an annotation. Absent: all Ingresses. */
  annotationFilter?: string | undefined;
  annotationPrefix?: string | undefined;
  healthCheckID?: string | undefined;
  /** Seconds. */
  recordTTL?: number | undefined;
  /** Hosted zones of Route 53 that are read before records are written. Absent or empty: none. */
  hostedZoneIDs?: string[] | undefined;
  /** Absent or empty: all namespaces. */
  namespaceSelector?: LabelSelector | undefined;
  /** Absent or empty: all classes. */
  ingressClassNames?: string[] | undefined;
  /** Absent: all kinds. */
  sources?: SourceKind[] | undefined;
  /** Absent or empty: HTTPRoutes of Gateways of all classes. */
  gatewayClassNames?: string[] | undefined;
  /** Where the weight of the cluster comes from. Exactly one field. */
  backend: {
    static?: { weight: number } | undefined;
    /** In the namespace of the operator. Default of `key`: weight. */
    configMap?: { name: string; key?: string | undefined } | undefined;
    dynamodb?: DynamoDbSpec | undefined;
    prometheus?: MeasuredSpec | undefined;
  };
  ramp?: RampSpec | undefined;
  acknowledge?: Acknowledge | undefined;
}

/** How a change of the weight proceeds. */
export interface RampSpec {
  /** Integer, 1 to 255. */
  step: number;
  /** A duration. Default, and at least: twice the TTL of the records. */
  interval?: string | undefined;
  gate?: { query: string; condition: string; failureLimit?: number | undefined } | undefined;
  rollback?: Rollback | undefined;
  direction?: RampDirection | undefined;
}

/** A table of DynamoDB with a row for each cluster. */
export interface DynamoDbSpec {
  tableName?: string | undefined;
  region?: string | undefined;
  /** Integer, 0 to 255. Default: 0. */
  initialWeight?: number | undefined;
  /** Default: false. */
  allowAllZero?: boolean | undefined;
}

/** A weight that Prometheus measures. */
export interface MeasuredSpec {
  query: string;
  /** The value that means a weight of 100. Default: 1. */
  fullValue?: string | undefined;
  /** Integer, 0 to 100. Default: 5. */
  minChange?: number | undefined;
}

/** The weight of one host, and how it is calculated. */
export interface HostExplanation {
  readonly host: string;
  /** `namespace/name` of the Ingress; absent for a host of an HTTPRoute. */
  readonly ingress?: string;
  /** `namespace/name` of the HTTPRoute. */
  readonly httpRoute?: string;
  /** Absent: the host has no record of this Ingress. */
  readonly weight?: number;
  /** Such as `cluster 75 x annotation 40 % x ready = 30`. Absent without a record. */
  readonly calculation?: string;
  readonly reason: HostReason;
  readonly message?: string;
}

export interface TrafficWeightStatus {
  observedGeneration?: number;
  /** The weight of the cluster that the backend asks for, 0 to 255. */
  desiredWeight?: number;
  /** The last weight of the cluster that was in force: see `spec.acknowledge`. */
  currentWeight?: number;
  ramp?: RampStatus;
  /** The last weight of the cluster that the operator wrote into the records. */
  appliedWeight?: number;
  /** When `appliedWeight` last changed; RFC 3339. */
  lastStepTime?: string;
  ingresses?: number;
  hosts?: number;
  dnsEndpoints?: number;
  conditions?: Condition[];
  explain?: HostExplanation[];
}

/** A change of the weight that is under way, or was rolled back. */
export interface RampStatus {
  from: number;
  target: number;
  weight: number;
  phase: RampPhase;
  failures: number;
  /** RFC 3339. */
  nextStepTime?: string;
  gate?: { result: GateResultName; value?: string; message?: string };
  message: string;
}

export interface TrafficWeight extends KubeObject {
  spec: TrafficWeightSpec;
  status?: TrafficWeightStatus;
}

export const TRAFFIC_WEIGHTS: Resource<TrafficWeight> = {
  group: 'traffic.example.com',
  version: 'v1alpha1',
  kind: 'TrafficWeight',
  plural: 'trafficweights',
  namespaced: false,
};
