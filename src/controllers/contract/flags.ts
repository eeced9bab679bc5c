import { LEAST_SAMPLES_PER_WINDOW } from '../../usage/evaluate/snapshot.ts';
import { DEFAULT_EXCLUDED_DEVICES } from '../../usage/evaluate/devices.ts';
import { COMMON_FLAGS } from '../../options/commonFlags.ts';
import {
  flag,
  list,
  withDefault,
  type FlagCheck,
  type FlagProblem,
  type FlagTable,
  type FlagValues,
} from '../../options/flagTable.ts';
import {
  address,
  boolean,
  duration,
  header,
  matcher,
  path,
  regExp,
  text,
  url,
  wholeSeconds,
} from '../../options/values.ts';

/**
 * The manager's flags that belong to no controller: how it runs, which Prometheus it asks, and what it asks of it. Every
 * controller may go by them.
 */
export const SHARED_FLAGS = {
  ...COMMON_FLAGS,
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
} as const satisfies FlagTable;

export type SharedFlags = FlagValues<typeof SHARED_FLAGS>;

/**
 * Scrapes are at most this far apart, ms. Prometheus drops a series 5 min after its last sample
 * (query.lookback-delta): one lost scrape must not end it.
 */
const LONGEST_SCRAPE_INTERVAL = 120_000;

const ONLY_WITH_URL = [
  'prometheusUsername',
  'prometheusPasswordFile',
  'prometheusBearerTokenFile',
  'prometheusCaFile',
  'prometheusHeader',
  'prometheusMatcher',
] as const satisfies readonly (keyof SharedFlags)[];

/** The first combination of these flags that cannot be meant, or undefined. */
export function sharedFlagProblem(flags: SharedFlags): FlagProblem<keyof SharedFlags> | undefined {
  return CHECKS.map((check) => check(flags)).find((problem) => problem !== undefined);
}

const CHECKS: readonly FlagCheck<SharedFlags>[] = [
  (flags) => {
    const key = ONLY_WITH_URL.find((one) => isGiven(flags[one]));
    return flags.prometheusUrl === undefined && key !== undefined
      ? { key, message: 'needs --prometheus-url: the Prometheus that is deployed asks for nothing' }
      : undefined;
  },
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
  ({ metricsBindAddress, metricsSecure, metricsCertPath }) =>
    metricsSecure && metricsBindAddress !== 'off' && metricsCertPath === undefined
      ? { key: 'metricsSecure', message: 'needs --metrics-cert-path, a directory with tls.crt and tls.key' }
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
