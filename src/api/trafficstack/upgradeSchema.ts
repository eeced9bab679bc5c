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
          'PromQL that must be true before the operator changes an existing component whose dependencies are ready. Sent to the ' +
          'Prometheus of the operator. True if it returns at least one series and none is 0 or NaN. Without an answer, changes wait.',
      }),
    rollback: z
      .boolean()
      .optional()
      .meta({
        description:
          'Whether the operator restores the last ready revision of a changed component that misses its deadline, until its spec ' +
          'changes. Default: false.',
      }),
  })
  .optional()
  .meta({ description: 'How the operator changes existing components.' });

/** Schema of `status.components[].rolledBackFrom`. */
export const rolledBackFromSchema = z
  .object({
    revision: z.string().meta({ description: 'The revision that missed its deadline. It is not applied again.' }),
    version: z.string().optional().meta({ description: 'Image of its first container.' }),
    message: z.string().meta({ description: 'State of the component at the deadline.' }),
  })
  .optional()
  .meta({
    description: 'Set while the component runs with its last ready revision instead of the revision in the spec.',
  });
