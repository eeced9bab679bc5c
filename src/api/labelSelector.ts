import * as z from 'zod';

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;
const VALUES_MESSAGE = 'must have values with In and NotIn, and none with Exists and DoesNotExist';

/** One expression of a LabelSelector. `values` has at least one entry with In and NotIn, none with the others. */
export interface LabelSelectorRequirement {
  key: string;
  operator: (typeof OPERATORS)[number];
  values?: string[] | undefined;
}

/** A metav1.LabelSelector: every label and every expression must match. An empty selector matches everything. */
export interface LabelSelector {
  matchLabels?: Record<string, string> | undefined;
  matchExpressions?: LabelSelectorRequirement[] | undefined;
}

const requirement = z
  .object({
    key: z.string().min(1, 'must be a label key').meta({ description: 'The label key.' }),
    operator: z.enum(OPERATORS).meta({ description: 'How the value of the label relates to `values`.' }),
    values: z.array(z.string()).optional().meta({
      description: 'The values for In and NotIn. Absent or empty for Exists and DoesNotExist.',
    }),
  })
  .refine(({ operator, values = [] }) => takesValues(operator) === values.length > 0, {
    message: VALUES_MESSAGE,
    path: ['values'],
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
        fieldPath: '.values',
        message: VALUES_MESSAGE,
      },
    ],
  });

/**
 * Schema of a metav1.LabelSelector. The API server rejects what the schema rejects; it does not check the syntax of
 * keys and values, and a key that no object can have matches none.
 *
 * @param description of the field
 */
export function labelSelectorSchema(description: string) {
  return z
    .object({
      matchLabels: z.record(z.string(), z.string()).optional().meta({
        description: 'Labels that must be present with these values.',
      }),
      matchExpressions: z.array(requirement).max(32, 'must have at most 32 entries').optional().meta({
        description: 'Expressions that must all match.',
      }),
    })
    .optional()
    .meta({ description });
}

function takesValues(operator: LabelSelectorRequirement['operator']): boolean {
  return operator === 'In' || operator === 'NotIn';
}
