import type { KubeConfig } from '@kubernetes/client-node';
import type { SharedFlags } from '../../controllers/contract/flags.ts';
import type { BindAddress } from '../../runtime/server/bindAddress.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { RuntimeMetrics } from '../../runtime/manager/metrics.ts';
import type { Transport } from '../../runtime/client/transport.ts';
import type { PrometheusEndpoint } from '../../prometheus/endpoint.ts';
import type { UsageQuery } from '../../usage/pass/queries.ts';
import type { MetricsServerSettings } from '../servers.ts';

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
  /** The same while the operator queries a Prometheus that a TrafficStack uses in place of its own. */
  readonly otherQuery: UsageQuery;
  /** Key of the node label with the capacity of a node's network; undefined if no label has it. */
  readonly capacityLabel: string | undefined;
  /** Time between two passes, milliseconds. */
  readonly intervalMs: number;
  /** True if the operator queries the Prometheus that it deploys, unless a TrafficStack uses another one. */
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
