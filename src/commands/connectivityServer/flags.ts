import { DEFAULT_AUDIENCE } from '../../connectivity/server/auth/token.ts';
import { COMMON_FLAGS } from '../../options/commonFlags.ts';
import { flag, list, withDefault, type FlagTable, type FlagValues } from '../../options/flagTable.ts';
import { GLOG_FLAGS } from '../../options/glogFlags.ts';
import { listenAddress, namespacedName, optionalText, wholeNumber } from '../../options/connectivityValues.ts';
import { boolean, dnsLabel, path, text } from '../../options/values.ts';

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
  tokenAudience: withDefault(
    text,
    DEFAULT_AUDIENCE,
    "Audience that the ServiceAccount tokens of agents must be for. It must differ from the API server's own.",
  ),
  agentServiceAccount: list(
    namespacedName,
    'ServiceAccount whose pods may report, as NAMESPACE/NAME. Without it every ServiceAccount whose pod has the label of an agent.',
  ),
  allowAnonymous: withDefault(
    boolean,
    'false',
    'Whether reports without a token are accepted, for the original agents. They are marked.',
  ),
  tlsCertPath: flag(path, 'Directory with tls.crt and tls.key. With it the server speaks only HTTPS.'),
  kubeconfig,
  logLevel,
  ...GLOG_FLAGS,
} as const satisfies FlagTable;

export type ConnectivityServerFlags = FlagValues<typeof CONNECTIVITY_SERVER_FLAGS>;
