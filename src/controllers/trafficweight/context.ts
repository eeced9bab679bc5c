import type { ControllerContext } from '../contract/context.ts';

/** What the controller needs of its process. */
export type WeightContext = Pick<
  ControllerContext,
  'client' | 'transport' | 'events' | 'isLeader' | 'metrics' | 'clock' | 'logger'
>;
