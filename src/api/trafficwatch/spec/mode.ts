import * as z from 'zod';

const MODES = ['Enforce', 'Observe'] as const;

/** Whether the operator acts on what it decides. */
export type Mode = (typeof MODES)[number];

/** The schema has no default, so that an object without the field stays unchanged. */
export const modeSchema = z
  .enum(MODES)
  .optional()
  .meta({
    description:
      'Whether the operator acts on its verdicts. Enforce (the default) labels nodes and writes the Deployment. ' +
      'Observe is a dry run: verdicts, figures and metrics are computed and status.plan says what Enforce would ' +
      'write, but no Node and no Deployment is written. A change from Enforce to Observe removes the node labels of ' +
      'this object and leaves its Deployment as it is.',
  });

/** Returns the mode of the spec; Enforce if the mode is absent or unknown: another CRD may have let it through. */
export function modeOf(spec: { readonly mode?: Mode | undefined } | null | undefined): Mode {
  return spec?.mode === 'Observe' ? 'Observe' : 'Enforce';
}
