import { COMMON_FLAGS } from '../../options/commonFlags.ts';
import { withDefault, type FlagTable, type FlagValues } from '../../options/flagTable.ts';
import { GLOG_FLAGS } from '../../options/glogFlags.ts';
import { hostAndPort, probeUrls, wholeNumber } from '../../options/connectivityValues.ts';

const { logLevel } = COMMON_FLAGS;

/** The flags of `connectivity-agent`: those of k8s-netchecker-agent. */
export const CONNECTIVITY_AGENT_FLAGS = {
  serverendpoint: withDefault(hostAndPort, 'netchecker-service:8081', 'Host and port of the connectivity server.'),
  probeurls: withDefault(probeUrls, '', 'URLs to request in each interval, in addition to that of the server.'),
  reportinterval: withDefault(wholeNumber(2, 86_400), '60', 'Interval of the reports, seconds.'),
  zeroextenderlength: withDefault(
    wholeNumber(0, 30_000),
    '1500',
    'Number of zeros in each report, which make it larger than one packet. Each takes two bytes.',
  ),
  logLevel,
  ...GLOG_FLAGS,
} as const satisfies FlagTable;

export type ConnectivityAgentFlags = FlagValues<typeof CONNECTIVITY_AGENT_FLAGS>;
