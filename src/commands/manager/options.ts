import type { KubeConfig } from '@kubernetes/client-node';
import type { SharedFlags } from '../../controllers/contract/flags.ts';
import type { BindAddress } from '../../runtime/server/bindAddress.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { RuntimeMetrics } from '../../runtime/manager/metrics.ts';
import type { SecureOptions } from '../../runtime/server/metricsServer.ts';
import type { Transport } from '../../runtime/client/transport.ts';
import type { PrometheusEndpoint } from '../../prometheus/endpoint.ts';
import type { UsageQuery } from '../../usage/pass/queries.ts';

/** Where metrics are served; over TLS and to those only whom the API server allows it, with `secure`. */
export interface MetricsServerSettings {
  readonly address: BindAddress;
  readonly secure: Omit<SecureOptions, 'client'> | undefined;
}

/** What `manager` runs with, checked. */
export interface ManagerOptions {
  readonly kubeConfig: KubeConfig;
  /** Where the operator lives, and its Lease. */
  readonly namespace: string;
  readonly leaderElect: boolean;
  readonly healthAddress: BindAddress | 'off';
  readonly metricsServer: MetricsServerSettings | undefined;
  readonly endpoint: PrometheusEndpoint;
  readonly query: UsageQuery;
  /** ms from tick to tick. */
  readonly intervalMs: number;
  /** Whether the Prometheus that is asked is the one that the operator deploys. */
  readonly hasOwnPrometheus: boolean;
  /** For the controllers, each of which knows its own among them. */
  readonly flags: SharedFlags;
  /** The pod that this process runs in; undefined outside of a cluster. */
  readonly podName: string | undefined;
  readonly logger: Logger;
}

/** What the parts of one process share. */
export interface Process {
  readonly options: ManagerOptions;
  readonly transport: Transport;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
}
