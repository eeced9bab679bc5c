import * as z from 'zod';
import type { KubeObject } from '../runtime/client/resource.ts';
import { readDuration } from '../runtime/process/duration.ts';

/** The fields that every kind has besides `spec` and `status`, for the schema of the whole object. */
export const OBJECT_FIELDS = {
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  metadata: z.custom<NonNullable<KubeObject['metadata']>>().optional().meta({ type: 'object' }),
};

/** Characters of a value of a label. */
const LONGEST_NAME = 63;

/** Rule of the API server for an object whose name is a label value on the objects that the operator creates for it. */
export const LABELLED_NAME_RULE = {
  rule: `size(self.metadata.name) <= ${LONGEST_NAME}`,
  message: `metadata.name must have ${LONGEST_NAME} characters at most: it is the value of a label`,
};

/** A pattern of a text. zod and the API server both check it, so JavaScript and RE2 must read it alike. */
interface TextPattern {
  readonly pattern: string;
  /** Message of a text that does not match, `must be …`. */
  readonly message: string;
  /** Most characters of the text. They bound the cost of the rule that the API server evaluates. */
  readonly longest: number;
}

/** Returns the schema of a required field with such a text. */
export function patternSchema(description: string, { pattern, message, longest }: TextPattern) {
  return z
    .string()
    .max(longest, message)
    .refine((text) => new RegExp(pattern).test(text), message)
    .meta({ description, 'x-kubernetes-validations': [{ rule: `self.matches('${pattern}')`, message }] });
}

/** Schema of an optional integer of 64 bits. */
export function int64(description: string) {
  // No zod integer: its maximum is 2^53 - 1, which a byte counter can exceed.
  return z.number().optional().meta({ type: 'integer', format: 'int64', description });
}

/** Schema of an optional integer of 32 bits. */
export function int32(description: string) {
  return z.number().optional().meta({ type: 'integer', format: 'int32', description });
}

/** A duration in Go's notation with the units ms, s, m and h. Five digits keep the sum within Go's range. */
const PATTERN = String.raw`^([0-9]{1,5}([.][0-9]{1,3})?(ms|s|m|h))+$`;
/** A duration without fractions and ms, so always in whole seconds. */
const WHOLE_SECONDS = '^([0-9]{1,5}(s|m|h))+$';
const MAX_LENGTH = 32;

/** The shortest and the longest duration that a field takes. */
interface DurationBounds {
  readonly least: string;
  readonly most: string;
  /** Examples within the bounds, for messages. */
  readonly examples: string;
  /** Whether it must be in whole seconds. Default: false. */
  readonly inSeconds?: boolean;
}

const SECOND_TO_DAY: DurationBounds = { least: '1s', most: '24h', examples: '"90s", "5m" or "1h30m"' };

function patternOf({ inSeconds = false }: DurationBounds): string {
  return inSeconds ? WHOLE_SECONDS : PATTERN;
}

function isAllowed(text: string, bounds: DurationBounds): boolean {
  const { least, most } = bounds;
  const ms = new RegExp(patternOf(bounds)).test(text) ? readDuration(text) : undefined;
  return ms !== undefined && ms >= durationMs(least) && ms <= durationMs(most);
}

/**
 * Schema of an optional field that takes a duration, by default from one second to a day.
 * @param description the form and the bounds are added to it, since `kubectl explain` shows no rules
 */
export function durationSchema(description: string, bounds: DurationBounds = SECOND_TO_DAY) {
  const { least, most, examples, inSeconds = false } = bounds;
  const form = `a duration ${inSeconds ? 'in whole seconds ' : ''}from "${least}" to "${most}", such as ${examples}`;
  const message = `must be ${form}`;
  const rule =
    `self.matches('${patternOf(bounds)}') && ` +
    `duration(self) >= duration('${least}') && duration(self) <= duration('${most}')`;
  return z
    .string()
    .max(MAX_LENGTH, message)
    .refine((text) => isAllowed(text, bounds), message)
    .optional()
    .meta({ description: `${description} The value is ${form}.`, 'x-kubernetes-validations': [{ rule, message }] });
}

/** The milliseconds of a duration that `durationSchema` accepted. */
export function durationMs(text: string): number {
  return readDuration(text) ?? 0;
}

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
