import { defaultMeasurementOptions, POD_INTERFACES } from '../controllers/measurement/options.ts';
import { nodeLabel, resources, retention, retentionSize, tolerations, volumeSize } from './kubernetesValues.ts';
import { DEFAULT_EXCLUDED_DEVICES } from '../usage/evaluate/devices.ts';
import {
  address,
  boolean,
  dnsLabel,
  dnsSubdomain,
  duration,
  header,
  image,
  logLevel,
  matcher,
  path,
  port,
  regExp,
  text,
  url,
  wholeSeconds,
  type ValueType,
} from './values.ts';

/** The sub-commands. */
export const COMMANDS = ['manager', 'cleanup', 'connectivity-server', 'connectivity-agent'] as const;
export type Command = (typeof COMMANDS)[number];

/** One flag, and the environment variable of the same meaning. */
export interface Flag<T = unknown> {
  /** In the order of `--help`; the name is the key of the table, in kebab case. */
  type: ValueType<T>;
  /** As it would be written on the command line; absent when nothing stands for it. */
  default?: string;
  /** What to say of the default where it depends on others. */
  defaultNote?: string;
  /** May be given several times; in the variable one a line. */
  isList?: boolean;
  /** Of which commands. */
  commands: readonly Command[];
  /** One sentence. */
  description: string;
}

const MEASUREMENT = defaultMeasurementOptions('');

const MANAGER: readonly Command[] = ['manager'];
const BOTH: readonly Command[] = ['manager', 'cleanup'];

function flag<T>(type: ValueType<T>, description: string, rest: Partial<Flag<T>> = {}) {
  return { commands: MANAGER, ...rest, type, description };
}

/** A flag that always has a value. */
function withDefault<T>(type: ValueType<T>, standard: string, description: string, rest: Partial<Flag<T>> = {}) {
  return { ...flag(type, description, rest), default: standard };
}

function list<T>(type: ValueType<T>, description: string) {
  return { ...flag(type, description), isList: true as const };
}

/** The only list of flags: the command line, the variables, `--help` and docs/flags.md all come from it. */
export const FLAGS = {
  namespace: withDefault(dnsLabel, 'traffic-operator-system', 'Namespace of the operator and of what it deploys.', {
    commands: BOTH,
  }),
  kubeconfig: flag(path, 'File that says how to reach the API server.', {
    commands: BOTH,
    defaultNote: '$KUBECONFIG, ~/.kube/config, or the pod’s service account',
  }),
  logLevel: withDefault(logLevel, 'info', 'How much is logged.', { commands: BOTH }),
  leaderElect: withDefault(boolean, 'false', 'Let one of several replicas lead; the others stand by.'),
  healthProbeBindAddress: withDefault(address, ':8081', 'Where /healthz and /readyz are served.'),
  metricsBindAddress: withDefault(address, '0', 'Where /metrics is served.'),
  metricsSecure: withDefault(
    boolean,
    'false',
    'Serve /metrics over HTTPS, to those only who may get the non-resource URL /metrics.',
  ),
  metricsCertPath: flag(path, 'Directory of tls.crt and tls.key for /metrics; read again when they change.'),
  enableHttp2: withDefault(boolean, 'false', 'Speak HTTP/2 where /metrics is served over HTTPS.'),
  interval: withDefault(duration('1s'), '10s', 'Time from one pass over the nodes to the next.'),
  window: flag(wholeSeconds('1s', '24h'), 'Time that a rate is taken over; must hold four scrapes.', {
    defaultNote: 'four times --scrape-interval, 20s at least; 2m with --prometheus-url',
  }),
  scrapeInterval: withDefault(
    wholeSeconds('1s', '24h'),
    '5s',
    'How often the deployed Prometheus scrapes the nodes; 2m at most. Without effect with --prometheus-url.',
  ),
  prometheusUrl: flag(url, 'A Prometheus that exists and is to be asked; then none is deployed.'),
  prometheusUsername: flag(text, 'User for basic authentication there.'),
  prometheusPasswordFile: flag(path, 'File with that user’s password; read again when it changes.'),
  prometheusBearerTokenFile: flag(path, 'File with a bearer token; read again when it changes.'),
  prometheusCaFile: flag(path, 'File with the authorities (PEM) that the server’s certificate is checked against.'),
  prometheusHeader: list(header, 'Header sent with each request.'),
  prometheusMatcher: list(matcher, 'Label matcher that every series must meet.'),
  prometheusImage: withDefault(
    image,
    'quay.io/prometheus/prometheus:v3.15.0',
    'Image of the Prometheus that is deployed.',
  ),
  prometheusPriorityClass: flag(dnsSubdomain, 'Its PriorityClass.', { defaultNote: 'none' }),
  prometheusResources: flag(resources, 'What its container asks for and may have, all of it.', {
    defaultNote: JSON.stringify(MEASUREMENT.prometheus.resources),
  }),
  prometheusNodeSelector: list(nodeLabel, 'Label of the nodes that it may run on.'),
  prometheusTolerations: flag(tolerations, 'Taints that it tolerates.', { defaultNote: 'none' }),
  prometheusRetention: withDefault(retention, MEASUREMENT.prometheus.retentionTime, 'How long it keeps samples.'),
  prometheusRetentionSize: flag(retentionSize, 'How much it keeps on disk; the oldest samples go first.', {
    defaultNote: `${MEASUREMENT.prometheus.retentionSize}, or half of --prometheus-storage-size`,
  }),
  prometheusStorageSize: flag(
    volumeSize,
    'Size of a PersistentVolumeClaim for its samples, which is deleted with what the operator measures with.',
    { defaultNote: `none: an emptyDir of ${MEASUREMENT.prometheus.storageSize}` },
  ),
  prometheusStorageClass: flag(dnsSubdomain, 'StorageClass of that claim.', { defaultNote: 'the cluster’s default' }),
  prometheusExistingClaim: flag(
    dnsSubdomain,
    'A PersistentVolumeClaim in the operator’s namespace for its samples, which the operator neither makes nor deletes.',
    { defaultNote: 'none' },
  ),
  nodeExporter: flag(boolean, 'Deploy node-exporter on every node.', {
    defaultNote: 'true, or false with --prometheus-url',
  }),
  nodeExporterImage: withDefault(image, 'quay.io/prometheus/node-exporter:v1.12.1', 'Its image.'),
  nodeExporterPort: withDefault(port, '9100', 'Its TCP port on the nodes, which must be free there.'),
  // Not a critical one unless told: some clouds make no such pod outside kube-system where no ResourceQuota names it.
  nodeExporterPriorityClass: flag(dnsSubdomain, 'Its PriorityClass, such as system-node-critical.', {
    defaultNote: 'none',
  }),
  nodeExporterResources: flag(resources, 'What its container asks for and may have, all of it.', {
    defaultNote: JSON.stringify(MEASUREMENT.exporter.resources),
  }),
  nodeExporterIgnoredDevices: flag(
    regExp,
    'Names of network devices that it does not even read, in place of the default, which is how network plug-ins name the nodes’ ends of pods’ interfaces. A node whose uplink has such a name is not measured.',
    { defaultNote: POD_INTERFACES },
  ),
  imagePullSecret: list(
    dnsSubdomain,
    'Secret to pull the images of Prometheus and node-exporter with, in the namespace of each.',
  ),
  deviceExclude: flag(
    regExp,
    'Names of network devices that are not measured either, beside those of --device-exclude-default.',
    { defaultNote: 'none' },
  ),
  deviceExcludeDefault: withDefault(
    regExp,
    DEFAULT_EXCLUDED_DEVICES,
    'Names of network devices that are not measured because they are not physical. What is given replaces the whole list; ^$ leaves nothing out by name.',
  ),
  deployment: withDefault(dnsLabel, 'traffic-operator', 'Name of the operator’s Deployment, which is stopped first.', {
    commands: ['cleanup'],
  }),
} as const satisfies Record<string, Flag>;

export type FlagKey = keyof typeof FLAGS;

/** All flags, in the order of the table. */
export const KEYS = Object.keys(FLAGS) as readonly FlagKey[];

/** What a flag's text becomes. */
type ValueOf<F> = F extends { type: ValueType<infer T>; isList: true }
  ? readonly T[]
  : F extends { type: ValueType<infer T>; default: string }
    ? T
    : F extends { type: ValueType<infer T> }
      ? T | undefined
      : never;

/** The values of all flags; durations in milliseconds. */
export type Flags = { readonly [K in FlagKey]: ValueOf<(typeof FLAGS)[K]> };

/** 'healthProbeBindAddress' -> 'health-probe-bind-address' */
export function flagName(key: FlagKey): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** 'healthProbeBindAddress' -> 'TRAFFIC_OPERATOR_HEALTH_PROBE_BIND_ADDRESS' */
export function variableName(key: FlagKey): string {
  return `TRAFFIC_OPERATOR_${flagName(key).replaceAll('-', '_').toUpperCase()}`;
}

/** The flags of a command, in the order of the table. */
export function flagsOf(command: Command): readonly FlagKey[] {
  return KEYS.filter((key) => (FLAGS[key] as Flag).commands.includes(command));
}

/** Loose view of one row of the table. */
export function flagOf(key: FlagKey): Flag {
  return FLAGS[key];
}
