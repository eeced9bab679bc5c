import * as z from 'zod';
import { conditionPath, type CustomResource } from '../crd.ts';
import { OBJECT_FIELDS } from '../objectFields.ts';
import { problemTexts } from '../problems.ts';
import { specSchema } from './specSchema.ts';
import { statusSchema } from './statusSchema.ts';
import { TRAFFIC_STACKS, type TrafficStack, type TrafficStackSpec } from './trafficStack.ts';

/** The name is the value of a label on each object of the stack. */
const LONGEST_NAME = 63;
const NAME_MESSAGE = `metadata.name must have ${LONGEST_NAME} characters at most: it is the value of a label`;

/** The whole object. The CRD's schema is generated from it (see crd.ts). */
export const trafficStackSchema = z
  .object({
    ...OBJECT_FIELDS,
    spec: specSchema,
    status: statusSchema,
  })
  .meta({
    description: 'Brings components up in the order of their dependencies, keeps them running, and shows their state.',
    'x-kubernetes-validations': [{ rule: `size(self.metadata.name) <= ${LONGEST_NAME}`, message: NAME_MESSAGE }],
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

/**
 * Parses the spec of an object from the API server, which may store one that an older CRD accepted. Each entry of `problems`
 * is one sentence with the field, its value and the allowed values.
 */
export function parseTrafficStackSpec({ spec }: TrafficStack): { spec: TrafficStackSpec } | { problems: string[] } {
  const parsed = specSchema.safeParse(spec);
  if (parsed.success) return { spec: parsed.data };
  const issues = parsed.error.issues.map(({ path, message }) => ({ path: ['spec', ...path], message }));
  return { problems: problemTexts({ spec }, issues) };
}
