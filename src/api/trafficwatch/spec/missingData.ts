import * as z from 'zod';
import { durationMs, durationSchema } from '../../durationSchema.ts';

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
export interface MissingDataSpec {
  readonly missingData?:
    { readonly policy?: (typeof POLICIES)[number] | undefined; readonly holdFor?: string | undefined } | undefined;
}

/** The verdict `countsAs` of a node that has had no figure for `holdForMs` milliseconds. */
export interface MissingData {
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
