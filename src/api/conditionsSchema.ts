import * as z from 'zod';

/** Schema of `status.conditions`: metav1.Condition with its published bounds, a list keyed by type. */
export function conditionsSchema(description: string) {
  return z
    .array(condition)
    .optional()
    .meta({ description, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });
}

const condition = z
  .object({
    type: z.string().max(316).meta({ description: 'Type of the condition in CamelCase.' }),
    status: z.enum(['True', 'False', 'Unknown']).meta({ description: 'One of True, False, Unknown.' }),
    reason: z.string().min(1).max(1024).meta({ description: 'Why the status is what it is, in one CamelCase word.' }),
    message: z.string().max(32768).meta({ description: 'The same for people; may be empty.' }),
    observedGeneration: z
      .number()
      .min(0)
      .optional()
      .meta({ type: 'integer', format: 'int64', description: 'The generation that the condition was set for.' }),
    lastTransitionTime: z
      .string()
      .meta({ format: 'date-time', description: 'When the status last changed from one value to another.' }),
  })
  .meta({ description: 'One aspect of the state of the object.' });
