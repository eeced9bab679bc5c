import * as z from 'zod';
import { durationMs, durationSchema } from '../../fieldSchemas.ts';

const MAX_THRESHOLD_LENGTH = 32;
/**
 * A decimal number, with or without exponent, as Go's ParseFloat accepts it, except hexadecimal numbers and words. Two
 * significant exponent digits and 32 characters keep every value finite (below 1e131).
 */
const THRESHOLD_PATTERN = String.raw`^[+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?0*[0-9]{1,2})?$`;
const THRESHOLD_MESSAGE =
  'must be a finite number of at least 0, decimal or with an exponent of at most two digits, such as "12.5" or "1.5e-03"';
/**
 * Default of recoverBandwidthPercent in percent of maxBandwidthPercent. With one threshold, load that varies by 20 % around
 * it changes a label 1,384 times a day; with this band once. See simulation.test.ts.
 */
const DEFAULT_RECOVERY = 80;
/** Significant digits, so that 80 % of 12.3 is 9.84 and not 9.840000000000002. */
const EXACT_DIGITS = 12;
const RECOVER_MESSAGE = 'must be at most maxBandwidthPercent';

function percent(description: string) {
  return z
    .string()
    .max(MAX_THRESHOLD_LENGTH, `must be at most ${MAX_THRESHOLD_LENGTH} characters long`)
    .refine((value) => new RegExp(THRESHOLD_PATTERN).test(value), THRESHOLD_MESSAGE)
    .meta({
      description,
      'x-kubernetes-validations': [{ rule: `self.matches('${THRESHOLD_PATTERN}')`, message: THRESHOLD_MESSAGE }],
    });
}

/** Schema of `spec.maxBandwidthPercent`. */
export const maxBandwidthPercent = percent(
  'Threshold in percent of a node\'s bandwidth. A node that sends more is unfit. A decimal number, with or without exponent, such as "60" or "1.5e-03".',
);

/** Schema of `spec.recoverBandwidthPercent`. */
export const recoverBandwidthPercent = percent(
  'Second threshold in percent, at most maxBandwidthPercent. An unfit node is fit again at or below it. Between both ' +
    'thresholds a node keeps its label, so that load around one of them does not flip it. Default: 80 % of maxBandwidthPercent.',
).optional();

/** The rule of `checkThresholds` for the API server. */
export const THRESHOLD_VALIDATIONS = [
  {
    rule: '!has(self.recoverBandwidthPercent) || double(self.recoverBandwidthPercent) <= double(self.maxBandwidthPercent)',
    fieldPath: '.recoverBandwidthPercent',
    message: RECOVER_MESSAGE,
  },
];

/** The thresholds of a spec, in percent as text. */
interface Thresholds {
  readonly maxBandwidthPercent: string;
  readonly recoverBandwidthPercent?: string | undefined;
}

/** Reports a second threshold above the first. */
export function checkThresholds(spec: Thresholds, context: z.RefinementCtx): void {
  const { maxBandwidthPercent: max, recoverBandwidthPercent: recover } = spec;
  if (recover === undefined || Number(recover) <= Number(max)) return;
  context.addIssue({ code: 'custom', path: ['recoverBandwidthPercent'], message: RECOVER_MESSAGE });
}

/** The threshold in percent, of a spec that `parseTrafficWatchSpec` accepted. */
export function thresholdOf(spec: Pick<Thresholds, 'maxBandwidthPercent'>): number {
  return Number(spec.maxBandwidthPercent);
}

/**
 * The threshold in percent at or below which an unfit node is fit again. The default is in code: a default of the CRD
 * would be written into every object.
 */
export function recoveryOf(spec: Thresholds): number {
  if (spec.recoverBandwidthPercent !== undefined) return Number(spec.recoverBandwidthPercent);
  return Number(((thresholdOf(spec) * DEFAULT_RECOVERY) / 100).toPrecision(EXACT_DIGITS));
}

/** The most passes that a verdict can ask for: five minutes at the default interval of 10 s. */
export const MOST_PASSES = 30;
const DEFAULT_PASSES = 2;

/** Schema of `spec.passes`. */
export const passesSchema = z
  .object({
    unfit: count('Number of passes in a row above the threshold after which a node is unfit. Default: 2.'),
    fit: count('Number of passes in a row not above the threshold after which a node is fit. Default: 2.'),
  })
  .optional()
  .meta({
    description: 'How many passes in a row must agree before a node label changes. A pass takes 10 s by default.',
  });

/** Schema of `spec.minHold`. */
export const minHoldSchema = durationSchema(
  'Minimum time between two changes of the label of one node. Until it has passed, the node keeps its verdict. Default: ' +
    'none.',
);

/**
 * How long a label stays at least, in milliseconds; undefined without spec.minHold.
 * @param spec may be absent: a CRD without a schema lets that through
 */
export function minHoldOf(spec: { readonly minHold?: string | undefined } | null | undefined): number | undefined {
  return spec?.minHold === undefined ? undefined : durationMs(spec.minHold);
}

/** The part of a spec with the number of passes that must agree. */
interface PassesSpec {
  readonly passes?: z.infer<typeof passesSchema>;
}

/**
 * How many passes in a row each verdict takes, with the defaults.
 * @param spec may be absent: a CRD without a schema lets that through
 */
export function passesOf(spec: PassesSpec | null | undefined): { readonly unfit: number; readonly fit: number } {
  const { unfit = DEFAULT_PASSES, fit = DEFAULT_PASSES } = spec?.passes ?? {};
  return { unfit, fit };
}

function count(description: string) {
  const message = `must be a whole number from 1 to ${MOST_PASSES}`;
  return z
    .number(message)
    .min(1, message)
    .max(MOST_PASSES, message)
    .refine(Number.isInteger, message)
    .optional()
    .meta({ type: 'integer', format: 'int32', description });
}

const POLICIES = ['Hold', 'Unfit', 'Fit'] as const;
const DEFAULT_HOLD = '5m';
const MESSAGE = 'applies only with the policy Unfit or Fit: with Hold the label stays however long there is no figure';

/** Schema of `spec.missingData`. */
export const missingDataSchema = z
  .object({
    policy: z
      .enum(POLICIES)
      .optional()
      .meta({
        description:
          'How a node without a figure counts. Hold (the default): its label stays. Unfit, Fit: it counts as unfit ' +
          'or fit after holdFor. A pass that fails, or has no figure of any node, changes nothing. A node that cannot be ' +
          'measured (not Linux, a virtual node, not Ready) keeps its label.',
      }),
    holdFor: durationSchema(
      `Time without a figure after which the policy Unfit or Fit applies. Default: ${DEFAULT_HOLD}.`,
    ),
  })
  .superRefine(({ policy = 'Hold', holdFor }, context) => {
    if (holdFor === undefined || policy !== 'Hold') return;
    context.addIssue({ code: 'custom', path: ['holdFor'], message: MESSAGE });
  })
  .optional()
  .meta({
    description: 'Policy for the label of a node without a figure.',
    'x-kubernetes-validations': [
      {
        rule: "!has(self.holdFor) || (has(self.policy) && self.policy != 'Hold')",
        fieldPath: '.holdFor',
        message: MESSAGE,
      },
    ],
  });

/** The part of a spec with the policy for nodes without a figure. */
interface MissingDataSpec {
  readonly missingData?: z.infer<typeof missingDataSchema>;
}

/** The verdict `countsAs` of a node that has had no figure for `holdForMs` milliseconds. */
interface MissingData {
  readonly countsAs: 'Unfit' | 'Fit';
  readonly holdForMs: number;
}

/**
 * Returns the policy for nodes without a figure; undefined with the policy Hold.
 * @param spec may be absent: a CRD without a schema lets that through
 */
export function missingDataOf(spec: MissingDataSpec | null | undefined): MissingData | undefined {
  const { policy, holdFor = DEFAULT_HOLD } = spec?.missingData ?? {};
  if (policy !== 'Unfit' && policy !== 'Fit') return undefined;
  return { countsAs: policy, holdForMs: durationMs(holdFor) };
}
