import { SERVER_PORT, TOKEN_AUDIENCE } from '../../connectivity/objects/names.ts';
import { COMMON_FLAGS, GLOG_FLAGS } from '../../options/commonFlags.ts';
import { flag, list, withDefault, type FlagTable, type FlagValues } from '../../options/flagTable.ts';
import { listenAddress, namespacedName, optionalText } from '../../options/connectivityValues.ts';
import { boolean, dnsLabel, path, text, wholeNumber } from '../../options/values.ts';

const { kubeconfig, logLevel } = COMMON_FLAGS;
const DAY_SECONDS = 86_400;

/** The flags of `connectivity-server`: the flags of k8s-netchecker-server, and the connection to the API server. */
export const CONNECTIVITY_SERVER_FLAGS = {
  endpoint: withDefault(listenAddress, `0.0.0.0:${SERVER_PORT}`, 'Address that the server listens on.'),
  kubeproxyinit: withDefault(
    boolean,
    'true',
    'Whether reports are stored as Agent objects (agents.network-checker.ext). If false, they are stored in the etcd of --etcd-endpoints. The default of the original is false.',
  ),
  reportTtl: withDefault(
    wholeNumber(2, DAY_SECONDS),
    '300',
    'Seconds. The times of a stored report are written after half of it; a report of a pod that does not exist is forgotten after it. In etcd, the lease of a report.',
  ),
  checkInterval: withDefault(wholeNumber(1, DAY_SECONDS), '10', 'Interval of counting missing reports, seconds.'),
  agentsNamespace: withDefault(dnsLabel, 'default', 'Namespace of the Agent objects.'),
  reportinterval: withDefault(
    wholeNumber(1, DAY_SECONDS),
    '60',
    'Interval of agents that have not reported yet, seconds: the report interval of the agents. They are absent after two of it since the start of the server.',
  ),
  pingTimeout: withDefault(
    wholeNumber(1, DAY_SECONDS),
    '5',
    'Deadline of the first write to each endpoint of etcd, seconds: "pong" in the key ping.',
  ),
  etcdEndpoints: flag(
    optionalText,
    'URLs of etcd v3, https://etcd-0:2379, with "," between them. Used with --kubeproxyinit=false. The next one is asked if one does not answer.',
  ),
  etcdTree: withDefault(optionalText, 'netchecker', 'Start of the keys in etcd: <tree>/ping, <tree>/agents/<pod>.'),
  etcdKey: flag(
    optionalText,
    'Path of the key of --etcd-cert, PEM. Read again when it changes, as the other two files.',
  ),
  etcdCert: flag(optionalText, 'Path of the client certificate for etcd, PEM.'),
  etcdCa: flag(
    optionalText,
    'Path of the CA that signed the certificates of etcd, PEM. They are always verified; if absent, by the CAs of the system.',
  ),
  tokenAudience: withDefault(
    text,
    TOKEN_AUDIENCE,
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
