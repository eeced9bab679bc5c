import * as z from 'zod';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import type { Condition } from '../../runtime/controller/conditions.ts';
import { conditionPath, type CustomResource } from '../crd.ts';
import { GROUP } from '../group.ts';
import { OBJECT_FIELDS } from '../fieldSchemas.ts';
import type { Finding, FindingClass } from './finding.ts';
import { specSchema, statusSchema, type ConnectivityCheckSpec } from './schema.ts';
import type { ConnectivityVerdict, Exclusion } from './terms.ts';

/** A finding, and the time when it appeared, RFC 3339. */
export interface StatusFinding extends Finding {
  /** Identifies class and full subjects. */
  readonly id?: string | undefined;
  readonly since: string;
  /** Since when nothing measures what it is about. Absent if the last evaluation shows it. */
  readonly unmeasuredSince?: string;
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
  unobservedNetworks?: number;
  /** Texts such as `pod network` or `DNS over UDP`. */
  unmeasured?: string[];
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
  group: GROUP,
  version: 'v1alpha1',
  kind: 'ConnectivityCheck',
  plural: 'connectivitychecks',
  namespaced: false,
};

/** The whole object. The CRD's schema is generated from it (see crd.ts). */
export const connectivityCheckSchema = z
  .object({
    ...OBJECT_FIELDS,
    spec: specSchema,
    status: statusSchema,
  })
  .meta({
    description: 'Checks the network between the nodes of the cluster, and names the node, link or plane at fault.',
  });

/** The CRD without its schema. Columns with a priority appear only with `-o wide`. */
export const connectivityCheckResource: CustomResource = {
  resource: CONNECTIVITY_CHECKS,
  schema: connectivityCheckSchema,
  singular: 'connectivitycheck',
  shortNames: ['cc'],
  categories: ['traffic'],
  columns: [
    { name: 'Verdict', type: 'string', jsonPath: '.status.verdict' },
    { name: 'Findings', type: 'string', jsonPath: '.status.summary' },
    { name: 'Agents', type: 'integer', jsonPath: '.status.agents' },
    { name: 'Reporting', type: 'integer', jsonPath: '.status.reportingAgents' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Ready', type: 'string', jsonPath: conditionPath('Ready'), priority: 1 },
    { name: 'Server', type: 'string', jsonPath: conditionPath('ServerReachable'), priority: 1 },
    { name: 'Nodes', type: 'integer', jsonPath: '.status.nodes', priority: 1 },
    { name: 'Excluded', type: 'integer', jsonPath: '.status.excludedNodes', priority: 1 },
    { name: 'Pairs', type: 'integer', jsonPath: '.status.observedPairs', priority: 1 },
    { name: 'Affected', type: 'integer', jsonPath: '.status.affectedPairs', priority: 1 },
    {
      name: 'Reason',
      type: 'string',
      jsonPath: conditionPath('Healthy', 'reason'),
      priority: 1,
    },
  ],
};
