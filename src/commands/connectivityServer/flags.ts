import { COMMON_FLAGS } from '../../options/commonFlags.ts';
import { flag, withDefault, type FlagTable, type FlagValues } from '../../options/flagTable.ts';
import { GLOG_FLAGS } from '../../options/glogFlags.ts';
import { listenAddress, optionalText, wholeNumber } from '../../options/connectivityValues.ts';
import { boolean, dnsLabel } from '../../options/values.ts';

const { kubeconfig, logLevel } = COMMON_FLAGS;
const DAY_SECONDS = 86_400;
const NO_ETCD = 'Not available in this version: reports are stored as Agent objects.';

/** The flags of `connectivity-server`: those of k8s-netchecker-server, and the connection to the API server. */
export const CONNECTIVITY_SERVER_FLAGS = {
  endpoint: withDefault(listenAddress, '0.0.0.0:8081', 'Address that the server listens on.'),
  kubeproxyinit: withDefault(
    boolean,
    'true',
    'Whether reports are stored as Agent objects (agents.network-checker.ext). The default of the original is false.',
  ),
  reportTtl: withDefault(
    wholeNumber(2, DAY_SECONDS),
    '300',
    'Seconds. The times of an Agent object are written after half of it; a report of a pod that does not exist is forgotten after it.',
  ),
  checkInterval: withDefault(wholeNumber(1, DAY_SECONDS), '10', 'Interval of counting missing reports, seconds.'),
  agentsNamespace: withDefault(dnsLabel, 'default', 'Namespace of the Agent objects.'),
  pingTimeout: withDefault(wholeNumber(1, DAY_SECONDS), '5', NO_ETCD),
  etcdEndpoints: flag(optionalText, NO_ETCD),
  etcdTree: withDefault(optionalText, 'netchecker', NO_ETCD),
  etcdKey: flag(optionalText, NO_ETCD),
  etcdCert: flag(optionalText, NO_ETCD),
  etcdCa: flag(optionalText, NO_ETCD),
  kubeconfig,
  logLevel,
  ...GLOG_FLAGS,
} as const satisfies FlagTable;

export type ConnectivityServerFlags = FlagValues<typeof CONNECTIVITY_SERVER_FLAGS>;
