import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import {
  defaultMeasurementOptions,
  defaultRateWindowSeconds,
  measurementEndpoint,
  type MeasurementOptions,
} from './controllers/measurement/options.ts';
import type { ManagerOptions } from './manager/options.ts';
import type { Flags } from './options.ts';
import type { Logger } from './runtime/process/logger.ts';
import { quantityOf } from './runtime/apply/quantity.ts';
import { takeTokenFiles } from './runtime/client/credentials/tokenFiles.ts';
import { UsageError } from './runtime/process/usageError.ts';
import type { PrometheusEndpoint } from './prometheus/endpoint.ts';
import type { UsageQuery } from './usage/pass/queries.ts';

/**
 * Window over a Prometheus that is not ours: four scrapes of its usual 15 to 30 s. How often it scrapes is not known
 * here; the feed counts samples, and MetricsAvailable says where they are too few.
 */
const FOREIGN_WINDOW_SECONDS = 120;

/**
 * What the manager runs with, from its flags.
 *
 * @throws UsageError when the kubeconfig cannot be read
 */
export function managerOptions(
  flags: Flags,
  env: Readonly<Record<string, string | undefined>>,
  logger: Logger,
): ManagerOptions {
  const measurement = measurementOf(flags);
  return {
    kubeConfig: loadKubeConfig(flags.kubeconfig),
    namespace: flags.namespace,
    leaderElect: flags.leaderElect,
    healthAddress: flags.healthProbeBindAddress,
    metricsServer: metricsServerOf(flags),
    endpoint: endpointOf(flags, measurement),
    query: queryOf(flags),
    intervalMs: flags.interval,
    measurement,
    podName: env.POD_NAME === '' ? undefined : env.POD_NAME,
    logger,
  };
}

/** What client-node guesses where there is nothing to go by. A kubeconfig may name that server, by another context. */
const GUESS = { context: 'loaded-context', server: 'http://localhost:8080' };

/**
 * The way to the API server: the file, or $KUBECONFIG, ~/.kube/config, or the pod's service account.
 *
 * @throws UsageError naming the file, or where it was looked for
 */
export function loadKubeConfig(file: string | undefined): KubeConfig {
  const kubeConfig = new KubeConfig();
  try {
    if (file === undefined) {
      kubeConfig.loadFromDefault();
    } else {
      kubeConfig.loadFromFile(file);
    }
    takeTokenFiles(kubeConfig, file);
  } catch (error) {
    const source = file === undefined ? '$KUBECONFIG or ~/.kube/config' : `--kubeconfig=${file}`;
    throw new UsageError(`${source}: cannot be used: ${reasonOf(error)}`);
  }
  const isGuess =
    kubeConfig.currentContext === GUESS.context && kubeConfig.getCurrentCluster()?.server === GUESS.server;
  if (file === undefined && isGuess) {
    throw new UsageError(
      'no way to the API server: $KUBECONFIG is not set, there is no ~/.kube/config, and this is no pod with a service ' +
        'account; --kubeconfig=FILE names one',
    );
  }
  return kubeConfig;
}

/** Of what the YAML parser says only where: its message quotes the lines around it, tokens and keys among them. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { mark } = error as { mark?: { line: number; column: number } };
  return mark === undefined ? error.message : `no YAML from line ${mark.line + 1}, column ${mark.column + 1} on`;
}

function metricsServerOf(flags: Flags): ManagerOptions['metricsServer'] {
  const { metricsBindAddress, metricsSecure, metricsCertPath, enableHttp2 } = flags;
  if (metricsBindAddress === 'off') {
    return undefined;
  }
  const isSecure = metricsSecure && metricsCertPath !== undefined;
  return {
    address: metricsBindAddress,
    secure: isSecure ? { certPath: metricsCertPath, http2: enableHttp2 } : undefined,
  };
}

function measurementOf(flags: Flags): MeasurementOptions {
  const { namespace, exporter, prometheus } = defaultMeasurementOptions(flags.namespace);
  const isOwn = flags.prometheusUrl === undefined;
  return {
    namespace,
    operatorMetrics: flags.metricsBindAddress !== 'off' && !flags.metricsSecure,
    imagePullSecrets: flags.imagePullSecret,
    exporter: {
      ...exporter,
      enabled: flags.nodeExporter ?? isOwn,
      image: flags.nodeExporterImage,
      port: flags.nodeExporterPort,
      priorityClassName: flags.nodeExporterPriorityClass ?? exporter.priorityClassName,
      resources: flags.nodeExporterResources ?? exporter.resources,
      ignoredDevices: wholeNameOr(exporter.ignoredDevices, flags.nodeExporterIgnoredDevices),
    },
    prometheus: {
      ...prometheus,
      enabled: isOwn,
      image: flags.prometheusImage,
      priorityClassName: flags.prometheusPriorityClass ?? prometheus.priorityClassName,
      scrapeIntervalSeconds: flags.scrapeInterval / 1000,
      resources: flags.prometheusResources ?? prometheus.resources,
      nodeSelector: Object.fromEntries(flags.prometheusNodeSelector),
      tolerations: flags.prometheusTolerations ?? prometheus.tolerations,
      ...storageOf(flags, prometheus.retentionSize),
    },
  };
}

/**
 * How much is kept, and where. Of a volume of a known size half is for blocks, as of the emptyDir: the rest is for the
 * newest three hours and for blocks while they are compacted.
 */
function storageOf(
  flags: Flags,
  standardSize: string,
): Pick<MeasurementOptions['prometheus'], 'retentionTime' | 'retentionSize' | 'volume'> {
  const { prometheusStorageSize: size, prometheusStorageClass, prometheusExistingClaim: claimName } = flags;
  const half = size === undefined ? standardSize : `${Math.floor((quantityOf(size) ?? 0) / 2 ** 21)}MB`;
  const storageClass = prometheusStorageClass === undefined ? {} : { storageClassName: prometheusStorageClass };
  return {
    retentionTime: flags.prometheusRetention,
    retentionSize: flags.prometheusRetentionSize ?? half,
    ...(size !== undefined && { volume: { kind: 'claim', size, ...storageClass } }),
    ...(claimName !== undefined && { volume: { kind: 'existing', claimName } }),
  };
}

/** node-exporter looks for a match anywhere in a name; a flag is meant as the whole one, as --device-exclude is. */
function wholeNameOr(standard: string, given: string | undefined): string {
  return given === undefined ? standard : `^(?:${given})$`;
}

function endpointOf(flags: Flags, measurement: MeasurementOptions): PrometheusEndpoint {
  const { prometheusUrl, prometheusUsername, prometheusPasswordFile, prometheusHeader } = flags;
  if (prometheusUrl === undefined) {
    return { url: measurementEndpoint(measurement), isNear: true };
  }
  const hasPassword = prometheusUsername !== undefined && prometheusPasswordFile !== undefined;
  return {
    url: prometheusUrl,
    ...(hasPassword && { basicAuth: { username: prometheusUsername, passwordFile: prometheusPasswordFile } }),
    bearerTokenFile: flags.prometheusBearerTokenFile,
    caFile: flags.prometheusCaFile,
    headers: Object.fromEntries(prometheusHeader.map(({ name, value }) => [name, value])),
  };
}

function queryOf(flags: Flags): UsageQuery {
  const { window, prometheusUrl, scrapeInterval, prometheusMatcher } = flags;
  const isOwn = prometheusUrl === undefined;
  const standardSeconds = isOwn ? defaultRateWindowSeconds(scrapeInterval / 1000) : FOREIGN_WINDOW_SECONDS;
  return {
    windowSeconds: window === undefined ? standardSeconds : window / 1000,
    ...(isOwn && { scrapeIntervalSeconds: scrapeInterval / 1000 }),
    matchers: prometheusMatcher,
    direction: 'transmit',
    excludedDevices: excludedDevices(flags),
  };
}

/** Matched against the whole name, as alternatives. */
function excludedDevices({ deviceExcludeDefault, deviceExclude }: Flags): string {
  return deviceExclude === undefined ? deviceExcludeDefault : `${deviceExcludeDefault}|${deviceExclude}`;
}
