import type { KubeConfig } from '@kubernetes/client-node';
import type { SharedFlags } from '../../controllers/contract/flags.ts';
import type { BindAddress } from '../../runtime/server/httpListener.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { RuntimeMetrics } from '../../runtime/manager/metrics.ts';
import type { Transport } from '../../runtime/client/transport.ts';
import type { PrometheusEndpoint } from '../../prometheus/endpoint.ts';
import type { UsageQuery } from '../../usage/pass/queries.ts';
import { type MetricsServerSettings, metricsServerOf } from '../servers.ts';
import { defaultRateWindowSeconds } from '../../controllers/measurement/options.ts';
import { endpointOf } from '../../controllers/measurement/observe/queriedPrometheus.ts';
import { loadKubeConfig } from '../kubeConfig.ts';
import { podNameOf } from '../election.ts';

/** The validated options of `manager`. */
export interface ManagerOptions {
  readonly kubeConfig: KubeConfig;
  /** Namespace of the operator and its Lease. */
  readonly namespace: string;
  readonly leaderElect: boolean;
  readonly healthAddress: BindAddress | 'off';
  readonly metricsServer: MetricsServerSettings | undefined;
  readonly endpoint: PrometheusEndpoint;
  readonly query: UsageQuery;
  /** The same while the Prometheus of the operator has another scrape interval than the flags say: seconds. */
  readonly queryAt: (scrapeIntervalSeconds: number) => UsageQuery;
  /** The same while the operator queries a Prometheus that a TrafficStack uses instead of its own. */
  readonly otherQuery: UsageQuery;
  /** Key of the node label with the capacity of a node's network; undefined if no label has it. */
  readonly capacityLabel: string | undefined;
  /** Time between two passes, milliseconds. */
  readonly intervalMs: number;
  /** True if the operator queries the Prometheus that it deploys, unless a TrafficStack uses another Prometheus. */
  readonly hasOwnPrometheus: boolean;
  /** For the controllers. Each reads its own flags. */
  readonly flags: SharedFlags;
  /** The pod that this process runs in; undefined outside of a cluster. */
  readonly podName: string | undefined;
  readonly logger: Logger;
}

/** Shared by the parts of one process. */
export interface Process {
  readonly options: ManagerOptions;
  readonly transport: Transport;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
}

/**
 * Rate window for another Prometheus than the operator's own: four scrapes at the usual interval of 15 to 30 s. The
 * actual interval is unknown here. The feed counts the samples, and the condition MetricsAvailable reports too few.
 */
const FOREIGN_WINDOW_SECONDS = 120;

/**
 * The options of the manager, from its flags.
 *
 * @throws UsageError if the kubeconfig cannot be read
 */
export function managerOptions(
  flags: SharedFlags,
  env: Readonly<Record<string, string | undefined>>,
  logger: Logger,
): ManagerOptions {
  return {
    kubeConfig: loadKubeConfig(flags.kubeconfig),
    namespace: flags.namespace,
    leaderElect: flags.leaderElect,
    healthAddress: flags.healthProbeBindAddress,
    metricsServer: metricsServerOf(flags),
    endpoint: endpointOf(flags),
    query: queryOf(flags, flags.prometheusUrl === undefined),
    queryAt: (seconds) => queryOf({ ...flags, scrapeInterval: seconds * 1000 }, true),
    otherQuery: queryOf(flags, false),
    capacityLabel: flags.capacityLabel,
    intervalMs: flags.interval,
    hasOwnPrometheus: flags.prometheusUrl === undefined,
    flags,
    podName: podNameOf(env),
    logger,
  };
}

/** @param isOwn whether it is sent to the Prometheus that the operator deploys */
function queryOf(flags: SharedFlags, isOwn: boolean): UsageQuery {
  const { window, scrapeInterval, prometheusMatcher, prometheusReplicaLabel } = flags;
  const standardSeconds = isOwn ? defaultRateWindowSeconds(scrapeInterval / 1000) : FOREIGN_WINDOW_SECONDS;
  return {
    windowSeconds: window === undefined ? standardSeconds : window / 1000,
    ...(isOwn && { scrapeIntervalSeconds: scrapeInterval / 1000 }),
    matchers: prometheusMatcher,
    ...(prometheusReplicaLabel.length > 0 && { replicaLabels: prometheusReplicaLabel }),
    excludedDevices: excludedDevices(flags),
  };
}

/** Joins both patterns. The result must match the whole name of a device. */
function excludedDevices({ deviceExcludeDefault, deviceExclude }: SharedFlags): string {
  return deviceExclude === undefined ? deviceExcludeDefault : `${deviceExcludeDefault}|${deviceExclude}`;
}
