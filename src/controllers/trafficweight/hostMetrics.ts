import { Gauge, type Registry } from 'prom-client';
import { METRIC_PREFIX } from '../../runtime/manager/metrics.ts';
import { sourceName, type ReportedHost } from './decide/hosts.ts';

/** The metrics of each host. Only the leader has their series. */
export interface HostMetrics {
  /** Replaces the hosts of a TrafficWeight. A current weight that is not known stays as it was. */
  set(trafficweight: string, hosts: readonly ReportedHost[]): void;
  /** Drops the hosts of a TrafficWeight. */
  forget(trafficweight: string): void;
}

/** A host is of an Ingress or of an HTTPRoute; the other label is absent. */
const LABELS = ['trafficweight', 'namespace', 'ingress', 'httproute', 'host'] as const;
type Labels = Partial<Record<(typeof LABELS)[number], string>>;

/**
 * Creates the metrics: two series for each host. They are made from the hosts when they are asked for, so that a host that
 * is gone has none.
 */
export function createHostMetrics(registry: Registry): HostMetrics {
  const known = new Map<string, readonly ReportedHost[]>();
  const each = (tell: (labels: Labels, host: ReportedHost) => void): void => {
    for (const [trafficweight, hosts] of known) {
      for (const host of hosts) tell(labelsOf(trafficweight, host), host);
    }
  };
  new Gauge({
    name: `${METRIC_PREFIX}trafficweight_host_weight_desired`,
    help: 'Weight that the records of a host should have, and what decided it. Absent for a host without records. Only the leader reports it.',
    labelNames: [...LABELS, 'reason'],
    registers: [registry],
    collect() {
      this.reset();
      each((labels, { weight, reason }) => weight !== undefined && this.set({ ...labels, reason }, weight));
    },
  });
  new Gauge({
    name: `${METRIC_PREFIX}trafficweight_host_weight_current`,
    help: 'Weight of a host that external-dns has read last. Only the leader reports it.',
    labelNames: LABELS,
    registers: [registry],
    collect() {
      this.reset();
      each((labels, { currentWeight }) => currentWeight !== undefined && this.set(labels, currentWeight));
    },
  });
  return {
    set(trafficweight, hosts) {
      const before = new Map((known.get(trafficweight) ?? []).map((host) => [idOf(host), host.currentWeight]));
      known.set(
        trafficweight,
        hosts.map((host) => ({ ...host, currentWeight: host.currentWeight ?? before.get(idOf(host)) })),
      );
    },
    forget: (trafficweight) => void known.delete(trafficweight),
  };
}

function labelsOf(trafficweight: string, { ingress, httpRoute, host }: ReportedHost): Labels {
  const [namespace = '', name = ''] = (ingress ?? httpRoute ?? '').split('/');
  const of = ingress === undefined ? { httproute: name } : { ingress: name };
  return { trafficweight, namespace, ...of, host };
}

function idOf(host: ReportedHost): string {
  return `${sourceName(host)} ${host.host}`;
}
