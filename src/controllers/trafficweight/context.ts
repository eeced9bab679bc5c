import type { ControllerContext } from '../contract/context.ts';

/** The parts of the process's context that the controller uses. */
export type WeightContext = Pick<
  ControllerContext,
  'client' | 'transport' | 'events' | 'isLeader' | 'metrics' | 'clock' | 'logger'
>;
