import * as z from 'zod';
import { conditionPath, type CustomResource } from '../crd.ts';
import { LABELLED_NAME_RULE, OBJECT_FIELDS } from '../fieldSchemas.ts';
import { parseSpec } from '../problems.ts';
import { specSchema } from './specSchema.ts';
import { statusSchema } from './statusSchema.ts';
import { TRAFFIC_STACKS, type TrafficStack, type TrafficStackSpec } from './trafficStack.ts';

/** The whole object. The CRD's schema is generated from it (see crd.ts). */
export const trafficStackSchema = z
  .object({
    ...OBJECT_FIELDS,
    spec: specSchema,
    status: statusSchema,
  })
  .meta({
    description: 'Brings components up in the order of their dependencies, keeps them running, and shows their state.',
    'x-kubernetes-validations': [LABELLED_NAME_RULE],
  });

/** The CRD without its schema. Columns with a priority appear only with `-o wide`. */
export const trafficStackResource: CustomResource = {
  resource: TRAFFIC_STACKS,
  schema: trafficStackSchema,
  singular: 'trafficstack',
  shortNames: ['tst'],
  categories: ['traffic'],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: conditionPath('Ready') },
    { name: 'Components', type: 'string', jsonPath: '.status.summary' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Progressing', type: 'string', jsonPath: conditionPath('Progressing'), priority: 1 },
    { name: 'Degraded', type: 'string', jsonPath: conditionPath('Degraded'), priority: 1 },
    { name: 'Stalled', type: 'string', jsonPath: conditionPath('Stalled'), priority: 1 },
  ],
};

/** The spec of an object, or what is wrong with it: see parseSpec. */
export function parseTrafficStackSpec({ spec }: TrafficStack): { spec: TrafficStackSpec } | { problems: string[] } {
  return parseSpec(specSchema, spec);
}
