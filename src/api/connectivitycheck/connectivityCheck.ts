import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import type { Condition } from '../../runtime/controller/conditions.ts';
import type { LabelSelector } from '../labelSelector.ts';
import type { Finding, FindingClass } from './finding.ts';
import type { ConnectivityVerdict, Exclusion, Plane } from './terms.ts';

/** The spec of a ConnectivityCheck: the fields that users write. Every field is optional. */
export interface ConnectivityCheckSpec {
  /** Time between two reports of an agent, such as `15s`. */
  interval?: string | undefined;
  /** Number of other nodes that each agent probes on its plane. */
  peers?: number | undefined;
  /** Absent or empty: all nodes. */
  nodeSelector?: LabelSelector | undefined;
  /** Absent: both. */
  planes?: Plane[] | undefined;
  /** Absent: all but URLs. */
  probes?:
    | {
        dns?: boolean | undefined;
        apiServer?: boolean | undefined;
        mtu?: boolean | undefined;
        urls?: string[] | undefined;
      }
    | undefined;
  thresholds?: { lossPercent?: number | undefined } | undefined;
}

/** A finding, and the time when it appeared, RFC 3339. */
export interface StatusFinding extends Finding {
  /** Identifies class and full subjects. */
  readonly id?: string | undefined;
  readonly since: string;
}

/** A time in which a finding existed, RFC 3339. `end` is absent while it exists. */
export interface Outage {
  readonly class: FindingClass;
  readonly subjects: readonly string[];
  /** The id of the finding. */
  readonly id?: string | undefined;
  readonly start: string;
  readonly end?: string | undefined;
}

export interface ConnectivityCheckStatus {
  verdict?: ConnectivityVerdict;
  /** The first finding and the number of others, such as `PodNetwork node2 (+3)`. Absent without findings. */
  summary?: string | undefined;
  observedGeneration?: number;
  conditions?: Condition[];
  nodes?: number;
  excludedNodes?: number;
  agents?: number;
  reportingAgents?: number;
  anonymousAgents?: number;
  observedPairs?: number;
  affectedPairs?: number;
  findings?: StatusFinding[];
  omittedFindings?: number;
  excluded?: { node: string; reason: Exclusion }[];
  /** The last 100 outages, newest first. */
  outages?: Outage[];
}

export interface ConnectivityCheck extends KubeObject {
  spec?: ConnectivityCheckSpec;
  status?: ConnectivityCheckStatus;
}

export const CONNECTIVITY_CHECKS: Resource<ConnectivityCheck> = {
  group: 'traffic.example.com',
  version: 'v1alpha1',
  kind: 'ConnectivityCheck',
  plural: 'connectivitychecks',
  namespaced: false,
};
