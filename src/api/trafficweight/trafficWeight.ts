import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import type { Condition } from '../../runtime/controller/conditions.ts';
import type { LabelSelector } from '../labelSelector.ts';
import type { Acknowledge, HostReason } from './terms.ts';

/** What users ask for. */
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
  /** Absent or empty: all namespaces. */
  namespaceSelector?: LabelSelector | undefined;
  /** Absent or empty: all classes. */
  ingressClassNames?: string[] | undefined;
  /** Where the weight of the cluster comes from. Exactly one field. */
  backend: {
    static?: { weight: number } | undefined;
    dynamodb?: DynamoDbSpec | undefined;
    prometheus?: MeasuredSpec | undefined;
  };
  acknowledge?: Acknowledge | undefined;
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
  /** The value that is a weight of 100. Default: 1. */
  fullValue?: string | undefined;
  /** Integer, 0 to 100. Default: 5. */
  minChange?: number | undefined;
}

/** How the weight of one host came about. */
export interface HostExplanation {
  readonly host: string;
  /** `namespace/name` of the Ingress. */
  readonly ingress: string;
  /** Absent: the host has no record of this Ingress. */
  readonly weight?: number;
  readonly reason: HostReason;
  readonly message?: string;
}

export interface TrafficWeightStatus {
  observedGeneration?: number;
  /** Of the cluster, from the backend. */
  desiredWeight?: number;
  /** The last weight of the cluster that was acknowledged. */
  currentWeight?: number;
  ingresses?: number;
  hosts?: number;
  dnsEndpoints?: number;
  conditions?: Condition[];
  explain?: HostExplanation[];
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
