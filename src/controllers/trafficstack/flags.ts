import { withDefault, type FlagTable } from '../../options/flagTable.ts';
import { boolean } from '../../options/values.ts';

/** The flags of the manager that only the controller of TrafficStacks uses. */
export const TRAFFIC_STACK_FLAGS = {
  defaultStack: withDefault(
    boolean,
    'false',
    'With --stacks, create the TrafficStack "default" of what the operator deploys, if there is none.',
  ),
} as const satisfies FlagTable;
