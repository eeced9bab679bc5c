import { Gauge, type Registry } from 'prom-client';
import { METRIC_PREFIX } from '../../runtime/manager/metrics.ts';

/** The metrics of the deployment of the connectivity check. */
export interface ConnectivityMetrics {
  /** Sets the number of present problems. */
  problems(count: number): void;
}

/** Registers the metrics. Call once for each registry. */
export function createConnectivityMetrics(registry: Registry): ConnectivityMetrics {
  const gauge = new Gauge({
    name: `${METRIC_PREFIX}connectivity_deployment_problems`,
    help: 'Problems that keep the server or the agents of the connectivity check from the desired state.',
    registers: [registry],
  });
  return { problems: (count) => gauge.set(count) };
}
