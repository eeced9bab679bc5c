import type { SharedFlags } from '../../controllers/contract/flags.ts';
import { defaultRateWindowSeconds } from '../../controllers/measurement/options.ts';
import { endpointOf } from '../../controllers/measurement/observe/queriedPrometheus.ts';
import { loadKubeConfig } from '../kubeConfig.ts';
import { podNameOf } from '../leaderClient.ts';
import { metricsServerOf } from '../servers.ts';
import type { ManagerOptions } from './options.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { UsageQuery } from '../../usage/pass/queries.ts';

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
