import { COMMON_FLAGS } from '../../options/commonFlags.ts';
import { flag, withDefault, type FlagTable, type FlagValues } from '../../options/flagTable.ts';
import { dnsLabel, dnsSubdomain } from '../../options/values.ts';

/** The flags of `cleanup`. */
export const CLEANUP_FLAGS = {
  ...COMMON_FLAGS,
  deployment: withDefault(
    dnsLabel,
    'traffic-operator',
    'Name of the operator’s Deployment. The clean-up stops it first.',
  ),
  weightsDeployment: flag(
    dnsLabel,
    'Name of the Deployment for DNS weights, which is stopped, too. Its Lease is deleted; the DNS records are unchanged.',
    { defaultNote: 'none' },
  ),
  helmRelease: flag(
    dnsSubdomain,
    'Do nothing unless helm removes the release of this name: rendered manifests may have been applied without helm.',
    { defaultNote: 'none; the clean-up always runs' },
  ),
  job: withDefault(
    dnsSubdomain,
    'traffic-operator-cleanup',
    'With --helm-release, the name of the Job that runs the clean-up.',
  ),
} as const satisfies FlagTable;

export type CleanupFlags = FlagValues<typeof CLEANUP_FLAGS>;
