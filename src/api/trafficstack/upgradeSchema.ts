import * as z from 'zod';

const LONGEST_QUERY = 4_096;

/** Schema of `spec.upgrade`. */
export const upgradeSchema = z
  .object({
    query: z
      .string()
      .min(1)
      .max(LONGEST_QUERY)
      .optional()
      .meta({
        description:
          'PromQL that must be true before a component that exists is changed, beside the readiness of what it depends on. Asked of the ' +
          'Prometheus of the operator. True if it gives at least one series and none is 0 or NaN. Without an answer, changes wait.',
      }),
    rollback: z
      .boolean()
      .optional()
      .meta({
        description:
          'Whether a changed component that misses its deadline gets the objects of its last ready revision back, until its spec ' +
          'changes. Default: false.',
      }),
  })
  .optional()
  .meta({ description: 'How components that exist are changed.' });

/** Schema of `status.components[].rolledBackFrom`. */
export const rolledBackFromSchema = z
  .object({
    revision: z.string().meta({ description: 'The revision that missed its deadline. It is not applied again.' }),
    version: z.string().optional().meta({ description: 'Image of its first container.' }),
    message: z.string().meta({ description: 'What was observed at the deadline.' }),
  })
  .optional()
  .meta({ description: 'Set while the objects are those of the last ready revision in place of those of the spec.' });
