import { withDefault, type FlagTable } from '../../options/flagTable.ts';
import { boolean } from '../../options/values.ts';

/** The flags of the manager that only the controller of TrafficStacks uses. */
export const TRAFFIC_STACK_FLAGS = {
  defaultStack: withDefault(
    boolean,
    'false',
    'With --stacks, what the operator deploys is in the TrafficStack "default", which follows the flags until somebody changes it.',
  ),
} as const satisfies FlagTable;
