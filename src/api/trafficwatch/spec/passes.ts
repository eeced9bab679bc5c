import * as z from 'zod';
import { durationMs, durationSchema } from '../../durationSchema.ts';

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
  readonly passes?: { readonly unfit?: number | undefined; readonly fit?: number | undefined } | undefined;
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
