import { serverAddress } from '../../connectivity/objects/names.ts';
import { firstProblem, flag, type FlagCheck, type FlagTable, type FlagValues } from '../../options/flagTable.ts';
import { url } from '../../options/values.ts';
import type { SharedFlags } from '../contract/flags.ts';

/** The flags of the manager for the connectivity server that it asks. */
export const CONNECTIVITY_CHECK_FLAGS = {
  connectivityServerUrl: flag(url, 'URL of the connectivity server. It is asked while there is a ConnectivityCheck.', {
    defaultNote:
      `with --connectivity http://${serverAddress('<namespace>')}, https with --connectivity-server-ca-file; ` +
      'otherwise none, and ConnectivityChecks are Unknown',
  }),
} as const satisfies FlagTable;

type Flags = SharedFlags & FlagValues<typeof CONNECTIVITY_CHECK_FLAGS>;

const CHECKS: readonly FlagCheck<Flags>[] = [
  ({ connectivityServerUrl, connectivityServerCaFile }) =>
    connectivityServerCaFile !== undefined && connectivityServerUrl?.startsWith('http:') === true
      ? {
          key: 'connectivityServerCaFile',
          message: `needs an https URL, and --connectivity-server-url is ${connectivityServerUrl}`,
        }
      : undefined,
];

/** The first invalid combination of flags, or undefined. */
export function connectivityCheckFlagProblem(flags: Flags) {
  return firstProblem(CHECKS, flags);
}

/** The URL of the connectivity server, without a trailing slash. Undefined if none is deployed and none was given. */
export function serverUrlOf(
  flags: Pick<Flags, keyof typeof CONNECTIVITY_CHECK_FLAGS | 'connectivityServerCaFile' | 'connectivity' | 'namespace'>,
): string | undefined {
  if (!flags.connectivity && flags.connectivityServerUrl === undefined) return undefined;
  const scheme = flags.connectivityServerCaFile === undefined ? 'http' : 'https';
  const given = flags.connectivityServerUrl ?? `${scheme}://${serverAddress(flags.namespace)}`;
  return given.replace(/\/+$/, '');
}
