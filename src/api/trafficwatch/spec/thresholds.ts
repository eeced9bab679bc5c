import * as z from 'zod';

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
