import * as z from 'zod';
import { labelSelectorSchema, type DeniedSuffix } from '../../labelSelector.ts';
import { NO_OWN_KEYS } from './nodeSelector.ts';

/** One entry for each kind of machine of a large cluster. It bounds the cost of the rules that the API server evaluates. */
const MOST_ENTRIES = 16;
/** Fewer than in spec.nodeSelector, because there can be many selectors. More values fit in further entries. */
const LIMITS = { requirements: 16, values: 64 };
const LONGEST_VALUE = 32;
/** The form of the capacity annotation; 32 characters keep every number finite. */
const VALUE_PATTERN = '^[0-9]+([.][0-9]+)? ?[tTgGmMkK]?[bB][iI][tT](/[sS])?$';
const ABOVE_ZERO = '[1-9]';
const VALUE_MESSAGE =
  'must be a decimal number above 0 with one of the units bit, kbit, Mbit, Gbit, Tbit, such as "25Gbit" or ' +
  `"2.5Gbit/s", of at most ${LONGEST_VALUE} characters`;
const UNREACHABLE_MESSAGE =
  'an entry without a nodeSelector, or with an empty one, must be the last: it matches every node, and no entry after ' +
  'it would ever be used';
const DENIED: DeniedSuffix = {
  suffix: NO_OWN_KEYS.suffix,
  message: `must not end in ${NO_OWN_KEYS.suffix}: the verdicts would decide the capacity`,
};

const entrySchema = z.object({
  nodeSelector: labelSelectorSchema(
    'Selects nodes by their labels. Absent or empty: every node; only the last entry may be so.',
    'Checked',
    { denied: DENIED, limits: LIMITS },
  ),
  value: z
    .string()
    .max(LONGEST_VALUE, VALUE_MESSAGE)
    .refine((text) => new RegExp(VALUE_PATTERN).test(text) && new RegExp(ABOVE_ZERO).test(text), VALUE_MESSAGE)
    .meta({
      description:
        'Capacity of the whole node, all devices together, in each direction: a decimal number above 0 with one of the ' +
        'units bit, kbit, Mbit, Gbit, Tbit (bits per second), such as "25Gbit" or "2.5Gbit/s".',
      'x-kubernetes-validations': [
        { rule: `self.matches('${VALUE_PATTERN}') && self.matches('${ABOVE_ZERO}')`, message: VALUE_MESSAGE },
      ],
    }),
});

/** The capacity of the nodes that a selector matches; absent or empty: every node. The value has the form of the capacity annotation. */
export type CapacityEntry = z.infer<typeof entrySchema>;

/** Schema of `spec.capacity`. */
export const capacitySchema = z
  .array(entrySchema.meta({ description: 'The capacity of the nodes that the selector matches.' }))
  .max(MOST_ENTRIES, `must have at most ${MOST_ENTRIES} entries`)
  .refine((entries) => entries.slice(0, -1).every((entry) => !matchesEveryNode(entry)), UNREACHABLE_MESSAGE)
  .optional()
  .meta({
    description:
      "Capacities of nodes, for this TrafficWatch only. The first entry whose selector matches a node's labels counts, " +
      'before the annotation traffic.example.com/capacity, the label of --capacity-label and the link speeds. Default: ' +
      'none; a node that no entry matches has the capacity of these other sources.',
    'x-kubernetes-list-type': 'atomic',
    'x-kubernetes-validations': [
      {
        // indexOf is -1 if every entry has a selector.
        rule:
          'self.map(entry, !has(entry.nodeSelector) || ' +
          '(size(entry.nodeSelector.?matchLabels.orValue({})) == 0 && ' +
          'size(entry.nodeSelector.?matchExpressions.orValue([])) == 0))' +
          '.indexOf(true) in [-1, size(self) - 1]',
        message: UNREACHABLE_MESSAGE,
      },
    ],
  });

function matchesEveryNode({ nodeSelector }: CapacityEntry): boolean {
  const { matchLabels = {}, matchExpressions = [] } = nodeSelector ?? {};
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

/**
 * The entries of a spec; undefined without any. Also undefined if an entry is invalid, which an older CRD may have let
 * through: then nothing is written until it is corrected.
 *
 * @param spec may be absent, or of any shape
 */
export function capacityOf(spec: { readonly capacity?: unknown } | null | undefined): CapacityEntry[] | undefined {
  if (spec?.capacity === undefined) return undefined;
  const entries = capacitySchema.safeParse(spec.capacity).data;
  return entries === undefined || entries.length === 0 ? undefined : entries;
}
