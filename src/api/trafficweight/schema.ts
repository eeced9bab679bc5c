import * as z from 'zod';
import { LABELLED_NAME_RULE, OBJECT_FIELDS } from '../objectFields.ts';
import { conditionPath, type CustomResource } from '../crd.ts';
import { parseSpec } from '../problems.ts';
import { specSchema } from './specSchema.ts';
import { statusSchema } from './statusSchema.ts';
import { TRAFFIC_WEIGHTS, type TrafficWeight, type TrafficWeightSpec } from './trafficWeight.ts';

/** The whole object. The CRD's schema is generated from it (see crd.ts). */
export const trafficWeightSchema = z
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
