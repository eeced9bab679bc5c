import { withDefault, type FlagTable } from '../../options/flagTable.ts';
import { boolean } from '../../options/values.ts';

/** The flags of the manager for stacks. */
export const TRAFFIC_STACK_FLAGS = {
  stacks: withDefault(
    boolean,
    'false',
    'Bring the components of TrafficStacks up in the order of their dependencies, and keep them running.',
  ),
} as const satisfies FlagTable;
