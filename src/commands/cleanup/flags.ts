import { COMMON_FLAGS } from '../../options/commonFlags.ts';
import { withDefault, type FlagTable, type FlagValues } from '../../options/flagTable.ts';
import { dnsLabel } from '../../options/values.ts';

/** The flags of `cleanup`. */
export const CLEANUP_FLAGS = {
  ...COMMON_FLAGS,
  deployment: withDefault(
    dnsLabel,
    'traffic-operator',
    'Name of the operator’s Deployment. The clean-up stops it first.',
  ),
} as const satisfies FlagTable;

export type CleanupFlags = FlagValues<typeof CLEANUP_FLAGS>;
