import * as z from 'zod';
import { conditionsSchema } from '../conditionsSchema.ts';
import { int32, int64 } from '../integerSchema.ts';
import { rampStatusSchema } from './rampSchema.ts';
import { HOST_REASONS } from './terms.ts';

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
export const statusSchema = z
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
      'Ready, BackendRead, Acknowledged, Ramped, ZonesRead, Applied, Observed, IngressesAccepted.',
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
