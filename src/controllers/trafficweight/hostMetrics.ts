import { Gauge, type Registry } from 'prom-client';
import { METRIC_PREFIX } from '../../runtime/manager/metrics.ts';
import { silentBudgets, type CreateBudget, type NamedSeries } from '../../runtime/manager/seriesBudget.ts';
import { sourceName, type ReportedHost } from './decide/hosts.ts';

/** Series of hosts within three hours, of a namespace and of all. A host has two, and a further one for each reason that it gets. */
const MOST_SERIES = { ofOwner: 5_000, ofAll: 30_000 };

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

/** A host, and which of its series have a place. */
interface ShownHost extends ReportedHost {
  readonly shows: { readonly desired: boolean; readonly current: boolean };
}

/**
 * Creates the metrics: two series for each host. They are made from the hosts when they are asked for, so that a host that
 * is gone has none. Users choose the hosts: those without a place in the budget of their namespace have no series.
 */
export function createHostMetrics(registry: Registry, createBudget: CreateBudget = silentBudgets): HostMetrics {
  const known = new Map<string, readonly ShownHost[]>();
  const budget = createBudget('host', MOST_SERIES);
  const each = (tell: (labels: Labels, host: ShownHost) => void): void => {
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
      each((labels, { weight, reason, shows }) => {
        if (weight !== undefined && shows.desired) this.set({ ...labels, reason }, weight);
      });
    },
  });
  new Gauge({
    name: `${METRIC_PREFIX}trafficweight_host_weight_current`,
    help: 'Weight of a host that external-dns has read last. Only the leader reports it.',
    labelNames: LABELS,
    registers: [registry],
    collect() {
      this.reset();
      each((labels, { currentWeight, shows }) => {
        if (currentWeight !== undefined && shows.current) this.set(labels, currentWeight);
      });
    },
  });
  return {
    set(trafficweight, hosts) {
      const before = new Map((known.get(trafficweight) ?? []).map((host) => [idOf(host), host.currentWeight]));
      const now = hosts.map((host) => ({ ...host, currentWeight: host.currentWeight ?? before.get(idOf(host)) }));
      const placed = budget.show(trafficweight, seriesOf(now));
      known.set(
        trafficweight,
        now.map((host) => ({
          ...host,
          shows: { desired: placed.has(desiredId(host)), current: placed.has(idOf(host)) },
        })),
      );
    },
    forget(trafficweight) {
      known.delete(trafficweight);
      budget.forget(trafficweight);
    },
  };
}

function* seriesOf(hosts: readonly ReportedHost[]): Generator<NamedSeries> {
  for (const host of hosts) {
    const owner = labelsOf('', host).namespace ?? '';
    if (host.weight !== undefined) yield { owner, id: desiredId(host) };
    if (host.currentWeight !== undefined) yield { owner, id: idOf(host) };
  }
}

function desiredId(host: ReportedHost): string {
  return `${idOf(host)} ${host.reason}`;
}

function labelsOf(trafficweight: string, { ingress, httpRoute, host }: ReportedHost): Labels {
  const [namespace = '', name = ''] = (ingress ?? httpRoute ?? '').split('/');
  const of = ingress === undefined ? { httproute: name } : { ingress: name };
  return { trafficweight, namespace, ...of, host };
}

function idOf(host: ReportedHost): string {
  return `${sourceName(host)} ${host.host}`;
}
