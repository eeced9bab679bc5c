import * as z from 'zod';

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

/** Limits of the lists. They bound the cost of the rules that the API server evaluates. */
const MOST_REQUIREMENTS = 50;
const MOST_VALUES = 250;

/** A label key: validation.IsQualifiedName of apimachinery. The name has at most 63 characters. */
const KEY_PATTERN =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$';
const LONGEST_PREFIX = 253;
const LONGEST_KEY = LONGEST_PREFIX + '/'.length + 63;
/** A label value: validation.IsValidLabelValue of apimachinery. */
const VALUE_PATTERN = '^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$';
const LONGEST_VALUE = 63;
const UNFIT_SUFFIX = '.traffic.example.com/unfit';

const KEY_MESSAGE =
  'must be a label key: at most 63 letters, digits, "-", "_" and ".", beginning and ending with a letter or digit, ' +
  'optionally after a DNS name and "/", such as "topology.kubernetes.io/zone"';
const OWN_KEY_MESSAGE = `must not end in ${UNFIT_SUFFIX}: the verdicts would decide which nodes are judged`;
const VALUE_MESSAGE =
  'must be a label value: empty, or at most 63 letters, digits, "-", "_" and ".", beginning and ending with a letter or digit';
const NEEDS_VALUES = 'must have at least one value: the operator is In or NotIn';
const TAKES_NO_VALUES = 'must be empty: the operator is Exists or DoesNotExist';

/** The problem of a label key; undefined if the key is valid. */
function keyProblem(key: string): string | undefined {
  if (!new RegExp(KEY_PATTERN).test(key) || key.indexOf('/') > LONGEST_PREFIX) return KEY_MESSAGE;
  return key.endsWith(UNFIT_SUFFIX) ? OWN_KEY_MESSAGE : undefined;
}

/** The rules of `keyProblem` for the API server, on the key that the CEL expression names. */
function keyRules(key: string, all = (rule: string) => rule) {
  return [
    { rule: all(`${key}.matches('${KEY_PATTERN}') && ${key}.indexOf('/') <= ${LONGEST_PREFIX}`), message: KEY_MESSAGE },
    { rule: all(`!${key}.endsWith('${UNFIT_SUFFIX}')`), message: OWN_KEY_MESSAGE },
  ];
}

const value = z
  .string()
  .max(LONGEST_VALUE, VALUE_MESSAGE)
  .refine((text) => new RegExp(VALUE_PATTERN).test(text), VALUE_MESSAGE)
  .meta({ 'x-kubernetes-validations': [{ rule: `self.matches('${VALUE_PATTERN}')`, message: VALUE_MESSAGE }] });

const requirement = z
  .object({
    key: z
      .string()
      .max(LONGEST_KEY, KEY_MESSAGE)
      .superRefine((key, context) => {
        const message = keyProblem(key);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .meta({ description: 'Key of the label.', 'x-kubernetes-validations': keyRules('self') }),
    operator: z.enum(OPERATORS).meta({
      description:
        'In: the label has one of the values. NotIn: it has none of them, or is absent. Exists: the label is present. ' +
        'DoesNotExist: it is absent.',
    }),
    values: z.array(value).max(MOST_VALUES).optional().meta({
      description: 'At least one value with In and NotIn, none with Exists and DoesNotExist.',
      'x-kubernetes-list-type': 'atomic',
    }),
  })
  .superRefine(({ operator, values = [] }, context) => {
    const needsValues = operator === 'In' || operator === 'NotIn';
    if (needsValues === values.length > 0) return;
    context.addIssue({ code: 'custom', path: ['values'], message: needsValues ? NEEDS_VALUES : TAKES_NO_VALUES });
  })
  .meta({
    description: 'A requirement on one label.',
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

const matchLabels = z
  .record(z.string(), value)
  .superRefine((labels, context) => {
    const keys = Object.keys(labels);
    if (keys.length > MOST_REQUIREMENTS) {
      context.addIssue({ code: 'custom', message: `must have at most ${MOST_REQUIREMENTS} labels` });
    }
    for (const key of keys) {
      const message = keyProblem(key);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [key], message: `the key ${message}` });
    }
  })
  .optional()
  .meta({
    description: 'Labels that a node must have: key and value.',
    maxProperties: MOST_REQUIREMENTS,
    'x-kubernetes-validations': keyRules('key', (rule) => `self.all(key, ${rule})`).map(({ rule, message }) => ({
      rule,
      message: `each key ${message}`,
    })),
  });

/** Schema of `spec.nodeSelector`: a metav1.LabelSelector. */
export const nodeSelectorSchema = z
  .object({
    matchLabels,
    matchExpressions: z.array(requirement).max(MOST_REQUIREMENTS).optional().meta({
      description: 'Requirements that the labels of a node must meet, all of them.',
      'x-kubernetes-list-type': 'atomic',
    }),
  })
  .optional()
  .meta({
    description:
      'Selects the nodes that are judged, by their labels. Other nodes are neither labelled nor counted, and a node that ' +
      'leaves the selection loses its label. Pods may run on other nodes: to keep them off, use the nodeSelector or the ' +
      'affinity of the pod template. Absent or empty: all nodes.',
    'x-kubernetes-map-type': 'atomic',
  });

/** Selects nodes by their labels. */
export type NodeSelector = NonNullable<z.infer<typeof nodeSelectorSchema>>;

/**
 * The selector of a spec; undefined if the spec selects all nodes. Also undefined for an invalid selector, which an
 * older CRD may have let through: then nothing is written until it is corrected.
 *
 * @param spec may be absent, or of any shape
 */
export function nodeSelectorOf(spec: { readonly nodeSelector?: unknown } | null | undefined): NodeSelector | undefined {
  if (spec?.nodeSelector === undefined) return undefined;
  const selector = nodeSelectorSchema.safeParse(spec.nodeSelector).data;
  const count = Object.keys(selector?.matchLabels ?? {}).length + (selector?.matchExpressions?.length ?? 0);
  return count === 0 ? undefined : selector;
}
