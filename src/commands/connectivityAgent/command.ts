import { setFlagsFromString } from 'node:v8';
import { PLANES, type Plane } from '../../api/connectivitycheck/terms.ts';
import { PEER_PORT, SERVER_PORT, SERVICE_NAME } from '../../connectivity/objects/names.ts';
import { cidr, hostAndPort, probeUrls } from '../../options/connectivityValues.ts';
import { COMMON_FLAGS, GLOG_FLAGS, levelOf } from '../../options/commonFlags.ts';
import { flag, list, withDefault, type FlagTable } from '../../options/flagTable.ts';
import { path, port, valueType, wholeNumber } from '../../options/values.ts';
import { runAgent } from '../../connectivity/agent/agent.ts';
import { apiServerOf } from '../../connectivity/agent/targets/targets.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import { defineCommand, type Command } from '../command.ts';

const { logLevel } = COMMON_FLAGS;

const plane = valueType<Plane>('plane', `one of ${PLANES.join(', ')}`, (text) => PLANES.find((each) => each === text));

/** The flags of `connectivity-agent`: the flags of k8s-netchecker-agent, and the flags about peers. */
export const CONNECTIVITY_AGENT_FLAGS = {
  serverendpoint: withDefault(
    hostAndPort,
    `${SERVICE_NAME}:${SERVER_PORT}`,
    'Host and port of the connectivity server.',
  ),
  probeurls: withDefault(probeUrls, '', 'URLs to request in each interval, besides the URL of the server.'),
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
  plane: flag(plane, 'Network that this agent measures: the network of pods or of nodes.', {
    defaultNote: 'Host if the name of the pod contains "hostnet", else Pod',
  }),
  allowTargetCidr: list(
    cidr,
    'Addresses that URLs of ConnectivityChecks, and redirects, may lead to, although they are refused by default: loopback, link-local, unspecified, multicast, broadcast, metadata of clouds, and the addresses of the node or the pod itself.',
  ),
  tokenFile: flag(path, 'File with the token that is sent with each report. It is read before each report.'),
  serverCaFile: flag(path, 'File with the CA of the server, PEM. With it, reports are sent by HTTPS.'),
  apiCaFile: flag(path, 'File with the CA of the API server, PEM. Without it, its certificate is not verified.'),
  logLevel,
  ...GLOG_FLAGS,
} as const satisfies FlagTable;

/**
 * V8 then collects garbage before it lets the heap grow: 63 MiB instead of 67, for no CPU time that could be measured
 * (docs/performance.md). V8 reads this flag at each such decision, so that it may be set now; NODE_OPTIONS does not take it.
 */
const V8_FLAG = '--memory-saver-mode';

/** `connectivity-agent`: reports what the network of its node can reach. */
export const connectivityAgent: Command = defineCommand<typeof CONNECTIVITY_AGENT_FLAGS>({
  name: 'connectivity-agent',
  flags: CONNECTIVITY_AGENT_FLAGS,
  logLevel: levelOf,
  run(flags, { env, logger, signal }) {
    setFlagsFromString(V8_FLAG);
    const { MY_POD_NAME: podName = '', MY_NODE_NAME: nodeName = '' } = env;
    if (podName === '') throw new Error('MY_POD_NAME is not set: must be the name of the pod');
    if (nodeName === '') logger.warn('MY_NODE_NAME is not set: the server looks the node up by the pod');
    const { serverendpoint: server, probeurls: probeUrls, reportinterval, zeroextenderlength } = flags;
    const { peerPort, allowTargetCidr: allowedTargets, serverCaFile, tokenFile, apiCaFile } = flags;
    if (tokenFile !== undefined && serverCaFile === undefined) {
      logger.warn('--token-file without --server-ca-file: the token is sent without TLS');
    }
    const identity = { podName, nodeName, intervalSeconds: reportinterval, zeros: zeroextenderlength };
    // As the original server tells the planes apart.
    const plane = flags.plane ?? (podName.includes('hostnet') ? 'Host' : 'Pod');
    const apiServer = apiServerOf(env);
    const files = { serverCaFile, tokenFile, apiCaFile };
    const own = {
      identity,
      server,
      probeUrls,
      allowedTargets,
      plane,
      peerPort,
      apiServer,
      ...files,
      clock: systemClock,
      logger,
    };
    return runAgent(own, signal);
  },
});
