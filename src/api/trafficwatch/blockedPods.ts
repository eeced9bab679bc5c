import * as z from 'zod';
import { int32 } from '../integerSchema.ts';

/** How many pods `status.blockedPods` names. */
export const NAMED_AT_MOST = 3;

/** The pods that find no node, since nodes that they would use are unfit. */
export interface BlockedPods {
  count: number;
  /** The first names in alphabetical order, at most NAMED_AT_MOST. */
  names: string[];
}

/** Schema of `status.blockedPods`. */
export const blockedPodsSchema = z
  .object({
    count: int32('Number of these pods.'),
    names: z
      .array(z.string())
      .max(NAMED_AT_MOST)
      .optional()
      .meta({ description: `Names of these pods, at most ${NAMED_AT_MOST}, in alphabetical order.` }),
  })
  .optional()
  .meta({
    description:
      'With placement Required and AtCreation: pods of the workload that are Pending, since the scheduler found no node for their ' +
      'node affinity while nodes are unfit. Absent if there are none.',
  });
