import { Gauge, type Registry } from 'prom-client';
import { HOST_REASONS } from '../../api/trafficweight/terms.ts';
import type { HostExplanation, TrafficWeightStatus } from '../../api/trafficweight/trafficWeight.ts';
import { METRIC_PREFIX } from '../../runtime/manager/metrics.ts';

/** The metrics of TrafficWeights. Only the leader has their series. */
export interface TrafficWeightMetrics {
  /** Records the weights of the TrafficWeight `name`, and its hosts by reason. */
  record(name: string, status: TrafficWeightStatus, hosts: readonly HostExplanation[]): void;
  /** Drops all series of the TrafficWeight `name`. */
  forget(name: string): void;
}

/**
 * Creates the metrics. The first two have the names of k8s-traffic-controller, so that its alert holds; here they have the
 * label `trafficweight`.
 */
export function createTrafficWeightMetrics(registry: Registry): TrafficWeightMetrics {
  const gauge = <L extends string>(name: string, help: string, ...labels: L[]): Gauge<L | 'trafficweight'> =>
    new Gauge({ name, help, labelNames: ['trafficweight', ...labels], registers: [registry] });
  const desired = gauge(
    'cluster_traffic_controller_ingress_weight_desired',
    'Weight of the cluster that the backend of a TrafficWeight asks for. Only the leader reports it.',
  );
  const current = gauge(
    'cluster_traffic_controller_ingress_weight_current',
    'The last weight of the cluster that was in force. Absent until one was. Only the leader reports it.',
  );
  const byReason = gauge(
    `${METRIC_PREFIX}trafficweight_hosts`,
    `Hosts of a TrafficWeight by what decided their weight: ${HOST_REASONS.join(', ')}. Only the leader reports it.`,
    'reason',
  );
  return {
    record(trafficweight, { desiredWeight, currentWeight }, hosts) {
      if (desiredWeight !== undefined) desired.set({ trafficweight }, desiredWeight);
      if (currentWeight !== undefined) current.set({ trafficweight }, currentWeight);
      for (const reason of HOST_REASONS) {
        byReason.set({ trafficweight, reason }, hosts.filter((host) => host.reason === reason).length);
      }
    },
    forget(trafficweight) {
      desired.remove({ trafficweight });
      current.remove({ trafficweight });
      for (const reason of HOST_REASONS) byReason.remove({ trafficweight, reason });
    },
  };
}
