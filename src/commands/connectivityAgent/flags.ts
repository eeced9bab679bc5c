import { PLANES, type Plane } from '../../api/connectivitycheck/terms.ts';
import { PEER_PORT, SERVER_PORT, SERVICE_NAME } from '../../connectivity/objects/names.ts';
import { cidr } from '../../options/cidr.ts';
import { COMMON_FLAGS } from '../../options/commonFlags.ts';
import { flag, list, withDefault, type FlagTable, type FlagValues } from '../../options/flagTable.ts';
import { GLOG_FLAGS } from '../../options/glogFlags.ts';
import { hostAndPort, probeUrls } from '../../options/connectivityValues.ts';
import { path, port, valueType, wholeNumber } from '../../options/values.ts';

const { logLevel } = COMMON_FLAGS;

const plane = valueType<Plane>('plane', `one of ${PLANES.join(', ')}`, (text) => PLANES.find((each) => each === text));

/** The flags of `connectivity-agent`: those of k8s-netchecker-agent, and those of its peers. */
export const CONNECTIVITY_AGENT_FLAGS = {
  serverendpoint: withDefault(
    hostAndPort,
    `${SERVICE_NAME}:${SERVER_PORT}`,
    'Host and port of the connectivity server.',
  ),
  probeurls: withDefault(probeUrls, '', 'URLs to request in each interval, in addition to that of the server.'),
  reportinterval: withDefault(wholeNumber(2, 86_400), '60', 'Interval of the reports, seconds.'),
  zeroextenderlength: withDefault(
    wholeNumber(0, 30_000),
    '1500',
    'Number of zeros in each report, which make it larger than one packet. Each takes two bytes.',
  ),
  peerPort: withDefault(
    port,
    String(PEER_PORT),
    'Port on which agents answer each other, HTTP and UDP, on all addresses.',
  ),
  plane: flag(plane, 'Network that this agent measures: that of pods or that of nodes.', {
    defaultNote: 'Host if the name of the pod contains "hostnet", else Pod',
  }),
  allowTargetCidr: list(
    cidr,
    'Addresses that URLs of ConnectivityChecks, and redirects, may lead to, although they are refused by default: loopback, link-local, unspecified, multicast, broadcast, metadata of clouds, and those of the node or the pod itself.',
  ),
  tokenFile: flag(path, 'File with the token that is sent with each report. It is read before each report.'),
  serverCaFile: flag(path, 'File with the CA of the server, PEM. With it, reports are sent by HTTPS.'),
  apiCaFile: flag(path, 'File with the CA of the API server, PEM. Without it, its certificate is not verified.'),
  logLevel,
  ...GLOG_FLAGS,
} as const satisfies FlagTable;

export type ConnectivityAgentFlags = FlagValues<typeof CONNECTIVITY_AGENT_FLAGS>;
