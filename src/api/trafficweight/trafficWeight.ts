import * as z from 'zod';
import { conditionsSchema, int32, int64, LABELLED_NAME_RULE, OBJECT_FIELDS } from '../fieldSchemas.ts';
import { rampStatusSchema } from './rampSchema.ts';
import { HOST_REASONS, type GateResultName, type HostReason, type RampPhase } from './terms.ts';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import type { Condition } from '../../runtime/controller/conditions.ts';
import { conditionPath, type CustomResource } from '../crd.ts';
import { GROUP } from '../group.ts';
import { parseSpec } from '../problems.ts';
import { specSchema } from './specSchema.ts';

/** How many hosts the status explains. */
export const MOST_EXPLAINED = 20;

const explanation = z
  .object({
    host: z.string().meta({ description: 'Name of the record.' }),
    ingress: z.string().optional().meta({ description: 'The Ingress, as namespace/name.' }),
    httpRoute: z.string().optional().meta({ description: 'The HTTPRoute, as namespace/name.' }),
    weight: int32('Weight of the record, from 0 to 255. Absent: there is no record of this host.'),
    calculation: z
      .string()
      .optional()
      .meta({ description: 'How the weight is calculated, such as "cluster 75 x annotation 40 % x ready = 30".' }),
    // No enum: an older CRD would then reject a status with a word that is new.
    reason: z.string().meta({ description: `Reason of the weight. One of ${HOST_REASONS.join(', ')}.` }),
    message: z.string().optional().meta({ description: 'The problem as a sentence. Absent without a problem.' }),
  })
  .meta({ description: 'The weight of one host, and how it is calculated.' });

/** Schema of `status`. */
const statusSchema = z
  .object({
    observedGeneration: int64('The generation of the spec that the status refers to.'),
    desiredWeight: int32('Weight of the cluster that the backend asks for, from 0 to 255.'),
    currentWeight: int32('The last weight of the cluster that was in force: see spec.acknowledge.'),
    appliedWeight: int32(
      'The last weight of the cluster that the operator wrote into the records: the weight of a step of the ramp, or the desired weight.',
    ),
    ramp: rampStatusSchema,
    lastStepTime: z.string().optional().meta({
      format: 'date-time',
      description: 'When the operator last wrote another weight of the cluster into the records.',
    }),
    ingresses: int32('Ingresses and HTTPRoutes with a host that has, or should have, records.'),
    hosts: int32('Hosts of these Ingresses and HTTPRoutes.'),
    dnsEndpoints: int32('DNSEndpoints of this object.'),
    conditions: conditionsSchema(
      'Ready, BackendRead, Acknowledged, Ramped, ZonesRead, Applied, Observed, Published, IngressesAccepted.',
    ),
    explain: z
      .array(explanation)
      .optional()
      .meta({
        description: `How the weights are calculated, for at most ${MOST_EXPLAINED} hosts: first hosts with a problem, then by name.`,
        'x-kubernetes-list-type': 'atomic',
      }),
  })
  .optional()
  .meta({ description: 'The weights, and whether they are in force.' });

/** The spec of a TrafficWeight: the fields that users write. */
export type TrafficWeightSpec = z.infer<typeof specSchema>;

/** How a change of the weight proceeds. */
export type RampSpec = NonNullable<TrafficWeightSpec['ramp']>;

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
  group: GROUP,
  version: 'v1alpha1',
  kind: 'TrafficWeight',
  plural: 'trafficweights',
  namespaced: false,
};

/** The whole object. The CRD's schema is generated from it (see crd.ts). */
const trafficWeightSchema = z
  .object({
    ...OBJECT_FIELDS,
    spec: specSchema,
    status: statusSchema,
  })
  .meta({
    description: 'Gives the DNS records of the cluster their weight, so that traffic shifts between clusters.',
    'x-kubernetes-validations': [LABELLED_NAME_RULE],
  });

/** The CRD without its schema. Columns with a priority appear only with `-o wide`. */
export const trafficWeightResource: CustomResource = {
  resource: TRAFFIC_WEIGHTS,
  schema: trafficWeightSchema,
  singular: 'trafficweight',
  shortNames: ['twt'],
  categories: ['traffic'],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: conditionPath('Ready') },
    { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterName' },
    { name: 'Desired', type: 'integer', jsonPath: '.status.desiredWeight' },
    { name: 'Current', type: 'integer', jsonPath: '.status.currentWeight' },
    { name: 'Hosts', type: 'integer', jsonPath: '.status.hosts' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Ramp', type: 'string', jsonPath: '.status.ramp.phase', priority: 1 },
    { name: 'Ingresses', type: 'integer', jsonPath: '.status.ingresses', priority: 1 },
    { name: 'Applied', type: 'string', jsonPath: conditionPath('Applied'), priority: 1 },
    { name: 'Observed', type: 'string', jsonPath: conditionPath('Observed'), priority: 1 },
    { name: 'Reason', type: 'string', jsonPath: conditionPath('Ready', 'reason'), priority: 1 },
  ],
};

/** The spec of an object, or what is wrong with it: see parseSpec. */
export function parseTrafficWeightSpec({ spec }: TrafficWeight): { spec: TrafficWeightSpec } | { problems: string[] } {
  return parseSpec(specSchema, spec);
}
