import { LEAST_SAMPLES_PER_WINDOW } from '../usage/evaluate/snapshot.ts';
import { prometheusDuration } from './kubernetesValues.ts';
import type { FlagKey, Flags } from './flags.ts';

/** What is wrong with flags that are right each by itself. */
export interface Problem {
  /** The flag to name. */
  key: FlagKey;
  message: string;
}

/**
 * Scrapes are at most this far apart, ms. Prometheus drops a series 5 min after its last sample
 * (query.lookback-delta): one lost scrape must not end it.
 */
const LONGEST_SCRAPE_INTERVAL = 120_000;

/** Namespaces are DNS labels of 63 characters at most, and the exporter's is named after the operator's. */
const LONGEST_NAMESPACE = 63 - '-node-exporter'.length;

const ONLY_WITH_URL: readonly FlagKey[] = [
  'prometheusUsername',
  'prometheusPasswordFile',
  'prometheusBearerTokenFile',
  'prometheusCaFile',
  'prometheusHeader',
  'prometheusMatcher',
];

/** The first combination of the manager's flags that cannot be meant, or undefined. */
export function combinationProblem(flags: Flags): Problem | undefined {
  return CHECKS.map((check) => check(flags)).find((problem) => problem !== undefined);
}

const CHECKS: readonly ((flags: Flags) => Problem | undefined)[] = [
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
  ({ prometheusStorageClass, prometheusStorageSize }) =>
    prometheusStorageClass !== undefined && prometheusStorageSize === undefined
      ? { key: 'prometheusStorageClass', message: 'needs --prometheus-storage-size' }
      : undefined,
  ({ prometheusExistingClaim, prometheusStorageSize }) =>
    prometheusExistingClaim !== undefined && prometheusStorageSize !== undefined
      ? {
          key: 'prometheusExistingClaim',
          message: 'must not be combined with --prometheus-storage-size: one volume, one claim',
        }
      : undefined,
  ({ prometheusUrl, window = 0, prometheusRetention }) =>
    prometheusUrl === undefined && window > (prometheusDuration(prometheusRetention) ?? 0)
      ? { key: 'window', message: `must be ${prometheusRetention} at most, which is --prometheus-retention` }
      : undefined,
  ({ prometheusUrl, nodeExporter = prometheusUrl === undefined, namespace }) =>
    nodeExporter && namespace.length > LONGEST_NAMESPACE
      ? {
          key: 'namespace',
          message: `must have ${LONGEST_NAMESPACE} characters at most, for <namespace>-node-exporter`,
        }
      : undefined,
];

function windowTooShort(scrapeSeconds: number): string {
  const least = LEAST_SAMPLES_PER_WINDOW * scrapeSeconds;
  return `must be ${least}s at least, four scrapes: --scrape-interval is ${scrapeSeconds}s`;
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
}
