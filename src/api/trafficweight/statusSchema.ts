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
      .meta({ description: 'How the weight comes about, such as "cluster 75 x annotation 40 % x ready = 30".' }),
    // No enum: an older CRD would then reject a status with a word that is new.
    reason: z.string().meta({ description: `What decided. One of ${HOST_REASONS.join(', ')}.` }),
    message: z.string().optional().meta({ description: 'What is wrong, for people. Absent if nothing is.' }),
  })
  .meta({ description: 'How the weight of one host came about.' });

/** Schema of `status`. */
export const statusSchema = z
  .object({
    observedGeneration: int64('The generation of the spec that the status refers to.'),
    desiredWeight: int32('Weight of the cluster that the backend asks for, from 0 to 255.'),
    currentWeight: int32('The last weight of the cluster that was in force: see spec.acknowledge.'),
    appliedWeight: int32(
      'The weight of the cluster that the records were given last: that of a step of the ramp, or the desired one.',
    ),
    ramp: rampStatusSchema,
    lastStepTime: z
      .string()
      .optional()
      .meta({ format: 'date-time', description: 'When the records were last given another weight of the cluster.' }),
    ingresses: int32('Ingresses and HTTPRoutes with a host that has, or should have, records.'),
    hosts: int32('Hosts of these.'),
    dnsEndpoints: int32('DNSEndpoints of this object.'),
    conditions: conditionsSchema(
      'Ready, BackendRead, Acknowledged, Ramped, ZonesRead, Applied, Observed, IngressesAccepted.',
    ),
    explain: z
      .array(explanation)
      .optional()
      .meta({
        description: `How the weights came about, for at most ${MOST_EXPLAINED} hosts: first those with a problem, then by name.`,
        'x-kubernetes-list-type': 'atomic',
      }),
  })
  .optional()
  .meta({ description: 'What was decided, and how far it is in force.' });
