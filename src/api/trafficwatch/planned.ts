import * as z from 'zod';
import { int32 } from '../integerSchema.ts';

const DEPLOYMENT_STEPS = ['Create', 'Apply', 'Wait', 'None'] as const;

/** The step that Enforce would take with the Deployment. */
export type DeploymentStep = (typeof DEPLOYMENT_STEPS)[number];

/** The writes that Enforce would make. */
export interface Planned {
  /** How many nodes would get another label value. */
  nodesToLabel: number;
  deployment: DeploymentStep;
}

/** Schema of `status.plan`. */
export const plannedSchema = z
  .object({
    nodesToLabel: int32('Number of nodes whose label would be written. A node without the label counts.'),
    deployment: z
      .enum(DEPLOYMENT_STEPS)
      .optional()
      .meta({
        description:
          'Create: the Deployment is missing and would be created. Apply: it exists and would be changed where it ' +
          'differs from the spec. Wait: its creation would wait for data. None: it would not be written.',
      }),
  })
  .optional()
  .meta({ description: 'With mode Observe: what Enforce would write now.' });
