import { LEAST_SAMPLES_PER_WINDOW } from '../../usage/evaluate/snapshot.ts';
import { DEFAULT_EXCLUDED_DEVICES } from '../../usage/evaluate/devices/devices.ts';
import { IDENTIFYING_LABELS } from '../../usage/evaluate/duplicateSeries.ts';
import { OBJECT_KIND_FORM, objectKindOf, objectKindsProblem } from '../../api/trafficstack/objectKinds.ts';
import { metricsProblem, PROCESS_FLAGS, type ProcessFlags } from '../../options/commonFlags.ts';
import {
  firstProblem,
  flag,
  list,
  withDefault,
  type FlagCheck,
  type FlagProblem,
  type FlagTable,
  type FlagValues,
} from '../../options/flagTable.ts';
import { annotation, label, labelKey } from '../../options/kubernetesValues.ts';
import {
  boolean,
  dnsLabel,
  dnsSubdomain,
  duration,
  header,
  labelName,
  matcher,
  path,
  regExp,
  text,
  url,
  valueType,
  wholeSeconds,
} from '../../options/values.ts';

/** Which Prometheus a process queries, and how. */
export const PROMETHEUS_FLAGS = {
  prometheusUrl: flag(url, 'URL of an existing Prometheus to query. The operator then deploys no Prometheus.'),
  prometheusUsername: flag(text, 'User for basic authentication at --prometheus-url.'),
  prometheusPasswordFile: flag(
    path,
    'File with the password of --prometheus-username. It is reloaded when it changes.',
  ),
  prometheusBearerTokenFile: flag(
    path,
    'File with a bearer token for --prometheus-url. It is reloaded when it changes.',
  ),
  prometheusCaFile: flag(path, 'File with the CA certificates (PEM) that verify the server of --prometheus-url.'),
  prometheusHeader: list(header, 'Header sent with each request to Prometheus.'),
  discoveryNamespace: list(
    dnsLabel,
    'Namespace in which TrafficStacks look for an existing node-exporter and Prometheus. Default: all. What is found counts only if it measures most nodes. Gates and weights query a Prometheus that was found only in these namespaces and in the namespace of the operator.',
  ),
} as const satisfies FlagTable;

/**
 * The flags of the manager that belong to no single controller: how it runs, which Prometheus it queries, and how.
 * Every controller can read them.
 */
export const SHARED_FLAGS = {
  ...PROCESS_FLAGS,
  interval: withDefault(duration('1s'), '10s', 'Time between the starts of two passes.'),
  window: flag(wholeSeconds('1s', '24h'), 'Time whose samples make a rate. It must contain at least four scrapes.', {
    defaultNote: 'four times --scrape-interval, at least 20s; 2m with --prometheus-url',
  }),
  scrapeInterval: withDefault(
    wholeSeconds('1s', '24h'),
    '5s',
    'Scrape interval of the deployed Prometheus, at most 2m. Has no effect with --prometheus-url.',
  ),
  ...PROMETHEUS_FLAGS,
  prometheusMatcher: list(matcher, 'Label matcher added to every query.'),
  prometheusReplicaLabel: list(
    labelName(IDENTIFYING_LABELS),
    'Label that tells the replicas of an HA pair of Prometheus apart. Series that differ only in it count once.',
  ),
  deviceExclude: flag(regExp, 'Names of network devices to exclude in addition to --device-exclude-default.', {
    defaultNote: 'none',
  }),
  deviceExcludeDefault: withDefault(
    regExp,
    DEFAULT_EXCLUDED_DEVICES,
    'Names of network devices that are excluded because they are not physical. A value replaces the whole list; ^$ excludes no device by name.',
  ),
  capacityLabel: flag(
    labelKey,
    "Node label with the capacity of the node's network: Mbit/s, or a number with a unit such as 25Gbit. spec.capacity of a TrafficWatch and the capacity annotation of a node take precedence.",
    { defaultNote: 'none' },
  ),
  imagePullSecret: list(
    dnsSubdomain,
    'Pull secret for the images of Prometheus, node-exporter and the connectivity check. It must exist in the namespace of each.',
  ),
  objectLabel: list(label, 'Label of every object that the operator deploys.'),
  podLabel: list(label, 'Label of the pods that the operator deploys. It is not part of their selectors.'),
  podAnnotation: list(annotation, 'Annotation of the pods that the operator deploys.'),
  openshift: withDefault(
    boolean,
    'false',
    'Deploy pods without fixed user and group IDs: OpenShift assigns IDs of the range of the namespace, and refuses others.',
  ),
  stacks: withDefault(
    boolean,
    'false',
    'Bring the components of the TrafficStacks of users up in the order of their dependencies, and keep them running. Without it, the operator runs only the TrafficStack "default".',
  ),
  defaultStack: withDefault(
    boolean,
    'true',
    'Create the TrafficStack "default", with what the operator deploys. It follows the flags until somebody changes its spec. From then on the object decides. Without it, the operator deploys nothing by itself.',
  ),
  stackNamespace: list(
    dnsLabel,
    'With --stacks, namespace in which the operator writes the objects of TrafficStacks, besides its own. Without this flag: every namespace. A stack with objects in another namespace is Stalled (NamespaceNotAllowed).',
  ),
  stackObjectKind: list(
    valueType('kind', OBJECT_KIND_FORM, objectKindOf),
    'With --stacks, kind of which components of the type Objects may have objects. Without this flag: none. The operator needs the rights to get, list, watch, create, patch and delete them.',
  ),
  weights: withDefault(
    boolean,
    'false',
    'TrafficWeights exist, so that TrafficStacks may have them as components. The command trafficweights gives the records their weights.',
  ),
  connectivity: withDefault(
    boolean,
    'false',
    'Deploy the connectivity check: a server in the namespace of the operator, and agents on every node.',
  ),
  connectivityTlsSecret: flag(
    dnsSubdomain,
    'Secret of type kubernetes.io/tls with ca.crt in the namespace of the operator, with which the deployed connectivity server serves HTTPS. It is reloaded when it changes.',
    { defaultNote: 'none: plain HTTP' },
  ),
  connectivityServerCaFile: flag(
    path,
    'File with the CA certificates (PEM) that verify the connectivity server, for the operator and for the deployed agents. It is reloaded when it changes.',
  ),
} as const satisfies FlagTable;

export type SharedFlags = FlagValues<typeof SHARED_FLAGS>;
export type PrometheusFlags = FlagValues<typeof PROMETHEUS_FLAGS>;

/**
 * Maximum scrape interval: ms. Prometheus drops a series 5 min after its last sample (query.lookback-delta), and one
 * lost scrape must not end a series.
 */
const LONGEST_SCRAPE_INTERVAL = 120_000;

/** Needs --prometheus-url. */
function needsUrl<F extends PrometheusFlags>(flags: F, keys: readonly (string & keyof F)[]) {
  const key = keys.find((one) => isGiven(flags[one]));
  return flags.prometheusUrl === undefined && key !== undefined
    ? { key, message: 'needs --prometheus-url: it does not apply to the deployed Prometheus' }
    : undefined;
}

/** The first invalid combination of PROCESS_FLAGS and PROMETHEUS_FLAGS, or undefined. */
export function processFlagProblem(
  flags: ProcessFlags & PrometheusFlags,
): FlagProblem<keyof (ProcessFlags & PrometheusFlags)> | undefined {
  return firstProblem(PROCESS_CHECKS, flags);
}

/** The first invalid combination of SHARED_FLAGS, or undefined. */
export function sharedFlagProblem(flags: SharedFlags): FlagProblem<keyof SharedFlags> | undefined {
  return firstProblem(CHECKS, flags);
}

const PROCESS_CHECKS: readonly FlagCheck<ProcessFlags & PrometheusFlags>[] = [
  (flags) =>
    needsUrl(flags, [
      'prometheusUsername',
      'prometheusPasswordFile',
      'prometheusBearerTokenFile',
      'prometheusCaFile',
      'prometheusHeader',
    ]),
  ({ prometheusUsername, prometheusPasswordFile }) =>
    prometheusUsername !== undefined && prometheusPasswordFile === undefined
      ? { key: 'prometheusUsername', message: 'needs --prometheus-password-file' }
      : undefined,
  ({ prometheusUsername, prometheusPasswordFile }) =>
    prometheusUsername === undefined && prometheusPasswordFile !== undefined
      ? { key: 'prometheusPasswordFile', message: 'needs --prometheus-username' }
      : undefined,
  ({ prometheusUsername, prometheusBearerTokenFile }) =>
    prometheusUsername !== undefined && prometheusBearerTokenFile !== undefined
      ? {
          key: 'prometheusBearerTokenFile',
          message: 'must not be combined with --prometheus-username: one way to log in',
        }
      : undefined,
  ({ prometheusUrl, prometheusCaFile }) =>
    prometheusCaFile !== undefined && prometheusUrl?.startsWith('http:') === true
      ? { key: 'prometheusCaFile', message: `needs an https URL, and --prometheus-url is ${prometheusUrl}` }
      : undefined,
  metricsProblem,
];

const CHECKS: readonly FlagCheck<SharedFlags>[] = [
  processFlagProblem,
  ({ stackObjectKind }) => {
    const message = objectKindsProblem(stackObjectKind);
    return message === undefined ? undefined : { key: 'stackObjectKind', message };
  },
  (flags) => needsUrl(flags, ['prometheusMatcher', 'prometheusReplicaLabel']),
  ({ connectivityTlsSecret, connectivityServerCaFile }) =>
    connectivityTlsSecret !== undefined && connectivityServerCaFile === undefined
      ? { key: 'connectivityTlsSecret', message: 'needs --connectivity-server-ca-file, a file with its ca.crt' }
      : undefined,
  ({ prometheusUrl, scrapeInterval }) =>
    prometheusUrl === undefined && scrapeInterval > LONGEST_SCRAPE_INTERVAL
      ? {
          key: 'scrapeInterval',
          message:
            'must be 2m at most: Prometheus drops a series 5m after its last sample, and one lost scrape must not end it',
        }
      : undefined,
  ({ prometheusUrl, window, scrapeInterval }) =>
    prometheusUrl === undefined && window !== undefined && window < LEAST_SAMPLES_PER_WINDOW * scrapeInterval
      ? { key: 'window', message: windowTooShort(scrapeInterval / 1000) }
      : undefined,
];

function windowTooShort(scrapeSeconds: number): string {
  const least = LEAST_SAMPLES_PER_WINDOW * scrapeSeconds;
  return `must be ${least}s at least, four scrapes: --scrape-interval is ${scrapeSeconds}s`;
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
}
