import * as z from 'zod';

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

/** Limits of the lists. They bound the cost of the rules that the API server evaluates. */
export interface SelectorLimits {
  /** Labels of matchLabels, and entries of matchExpressions. */
  readonly requirements: number;
  /** Values of one expression. */
  readonly values: number;
}

const LIMITS: SelectorLimits = { requirements: 50, values: 250 };

/** A label key: validation.IsQualifiedName of apimachinery. The name has at most 63 characters. */
const KEY_PATTERN =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$';
const LONGEST_PREFIX = 253;
const LONGEST_KEY = LONGEST_PREFIX + '/'.length + 63;
/** A label value: validation.IsValidLabelValue of apimachinery. */
const VALUE_PATTERN = '^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$';
const LONGEST_VALUE = 63;

const KEY_MESSAGE =
  'must be a label key: at most 63 letters, digits, "-", "_" and ".", beginning and ending with a letter or digit, ' +
  'optionally after a DNS name and "/", such as "topology.kubernetes.io/zone"';
const VALUE_MESSAGE =
  'must be a label value: empty, or at most 63 letters, digits, "-", "_" and ".", beginning and ending with a letter or digit';
const NEEDS_VALUES = 'must have at least one value: the operator is In or NotIn';
const TAKES_NO_VALUES = 'must be empty: the operator is Exists or DoesNotExist';

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

/** A suffix that no key of a selector may have, and the message about such a key. */
export interface DeniedSuffix {
  readonly suffix: string;
  readonly message: string;
}

/**
 * Schema of a metav1.LabelSelector.
 *
 * | selector    | checks                                                                                          |
 * |-------------|-------------------------------------------------------------------------------------------------|
 * | `Checked`   | the checks of apimachinery: the syntax of keys and values, and whether values fit the operator; limits of the lists |
 * | `Unchecked` | the shape only: a selector that another object has must pass, however long it is                |
 *
 * @param description of the field
 * @param options.denied with `Checked`: the suffix of keys that are not allowed
 * @param options.limits with `Checked`: limits of the lists
 */
export function labelSelectorSchema(
  description: string,
  checks: 'Checked' | 'Unchecked',
  { denied, limits = LIMITS }: { readonly denied?: DeniedSuffix; readonly limits?: SelectorLimits } = {},
) {
  const isChecked = checks === 'Checked';
  const expressions = z.array(
    isChecked ? checkedRequirement(denied, limits) : requirement(z.string(), z.array(z.string())),
  );
  return z
    .object({
      matchLabels: (isChecked ? checkedLabels(denied, limits) : z.record(z.string(), z.string()))
        .optional()
        .meta({ description: 'Labels that must be present with these values.' }),
      matchExpressions: (isChecked ? expressions.max(limits.requirements) : expressions).optional().meta({
        description: 'Requirements that the labels must meet, all of them.',
        'x-kubernetes-list-type': 'atomic',
      }),
    })
    .optional()
    .meta({ description, 'x-kubernetes-map-type': 'atomic' });
}

function requirement(key: z.ZodString, values: z.ZodArray<z.ZodString>) {
  return z
    .object({
      key: key.meta({ description: 'Key of the label.' }),
      operator: z.enum(OPERATORS).meta({
        description:
          'In: the label has one of the values. NotIn: it has none of them, or is absent. Exists: the label is present. ' +
          'DoesNotExist: it is absent.',
      }),
      values: values.optional().meta({
        description: 'At least one value with In and NotIn, none with Exists and DoesNotExist.',
        'x-kubernetes-list-type': 'atomic',
      }),
    })
    .meta({ description: 'A requirement on one label.' });
}

function checkedRequirement(denied: DeniedSuffix | undefined, limits: SelectorLimits) {
  const key = z
    .string()
    .max(LONGEST_KEY, KEY_MESSAGE)
    .superRefine((text, context) => {
      const message = keyProblem(text, denied);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ 'x-kubernetes-validations': keyRules('self', denied) });
  return requirement(key, z.array(checkedValue).max(limits.values))
    .superRefine(({ operator, values = [] }, context) => {
      const needsValues = operator === 'In' || operator === 'NotIn';
      if (needsValues === values.length > 0) return;
      context.addIssue({ code: 'custom', path: ['values'], message: needsValues ? NEEDS_VALUES : TAKES_NO_VALUES });
    })
    .meta({
      'x-kubernetes-validations': [
        {
          rule: "!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)",
          message: `values ${NEEDS_VALUES}`,
        },
        {
          rule: "self.operator in ['In', 'NotIn'] || !has(self.values) || size(self.values) == 0",
          message: `values ${TAKES_NO_VALUES}`,
        },
      ],
    });
}

const checkedValue = z
  .string()
  .max(LONGEST_VALUE, VALUE_MESSAGE)
  .refine((text) => new RegExp(VALUE_PATTERN).test(text), VALUE_MESSAGE)
  .meta({ 'x-kubernetes-validations': [{ rule: `self.matches('${VALUE_PATTERN}')`, message: VALUE_MESSAGE }] });

function checkedLabels(denied: DeniedSuffix | undefined, limits: SelectorLimits) {
  return z
    .record(z.string(), checkedValue)
    .superRefine((labels, context) => {
      const keys = Object.keys(labels);
      if (keys.length > limits.requirements) {
        context.addIssue({ code: 'custom', message: `must have at most ${limits.requirements} labels` });
      }
      for (const key of keys) {
        const message = keyProblem(key, denied);
        if (message !== undefined) context.addIssue({ code: 'custom', path: [key], message: `the key ${message}` });
      }
    })
    .meta({
      maxProperties: limits.requirements,
      'x-kubernetes-validations': keyRules('key', denied).map(({ rule, message }) => ({
        rule: `self.all(key, ${rule})`,
        message: `each key ${message}`,
      })),
    });
}

/** The problem of a label key; undefined if the key is valid. */
function keyProblem(key: string, denied: DeniedSuffix | undefined): string | undefined {
  if (!new RegExp(KEY_PATTERN).test(key) || key.indexOf('/') > LONGEST_PREFIX) return KEY_MESSAGE;
  return denied !== undefined && key.endsWith(denied.suffix) ? denied.message : undefined;
}

/** The rules of `keyProblem` for the API server, on the key that the CEL expression names. */
function keyRules(key: string, denied: DeniedSuffix | undefined) {
  return [
    { rule: `${key}.matches('${KEY_PATTERN}') && ${key}.indexOf('/') <= ${LONGEST_PREFIX}`, message: KEY_MESSAGE },
    ...(denied === undefined ? [] : [{ rule: `!${key}.endsWith('${denied.suffix}')`, message: denied.message }]),
  ];
}
