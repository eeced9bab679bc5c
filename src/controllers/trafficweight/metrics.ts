import { Gauge, type Registry } from 'prom-client';
import { WeightCondition, WeightReason } from '../../api/trafficweight/reasons.ts';
import { HOST_REASONS, RAMP_PHASES, type HostReason } from '../../api/trafficweight/terms.ts';
import type { HostExplanation, RampStatus, TrafficWeightStatus } from '../../api/trafficweight/trafficWeight.ts';
import { findCondition, type Condition } from '../../runtime/controller/conditions.ts';
import { METRIC_PREFIX } from '../../runtime/manager/metrics.ts';
import { silentBudgets, type CreateBudget, type NamedSeries } from '../../runtime/manager/seriesBudget.ts';
import type { Removal } from '../../weights/plan/removal.ts';
import { sourceName, type ReportedHost } from './decide/hosts.ts';
import { isWaiting } from './decide/ramp.ts';

/** Where a step stands without a ramp, and with one whose gate has no data. */
const STEP_PHASES = ['Reached', 'Waiting', ...RAMP_PHASES] as const;

/** TrafficWeights with series within three hours. Their names are of the cluster, so that all share one limit. */
const MOST_WEIGHTS = { ofOwner: 100, ofAll: 200 };

/** Series of namespaces within three hours: a namespace has one for each TrafficWeight. */
const MOST_NAMESPACES = { ofOwner: 100, ofAll: 1_000 };

/** The decisions of a reconcile about hosts. */
interface DecidedHosts {
  readonly hosts: readonly ReportedHost[];
  /** The removal that waits for a confirmation. */
  readonly unconfirmed?: Pick<Removal, 'namespaces'> | undefined;
}

/** The metrics of TrafficWeights. Only the leader has their series. */
export interface TrafficWeightMetrics {
  /**
   * Records whether the TrafficWeight `name` is ready, its weights, and its hosts by reason.
   *
   * @param decided undefined if nothing could be decided: the last hosts stay
   */
  record(name: string, status: TrafficWeightStatus, decided?: DecidedHosts): void;
  /** Drops all series of the TrafficWeight `name`. */
  forget(name: string): void;
}

/**
 * Creates the metrics. The first two have the names of k8s-traffic-controller, so that an alert about them goes on
 * working; here they have the label `trafficweight`.
 */
export function createTrafficWeightMetrics(
  registry: Registry,
  createBudget: CreateBudget = silentBudgets,
): TrafficWeightMetrics {
  const budget = createBudget('TrafficWeight', MOST_WEIGHTS);
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
  const step = gauge(
    `${METRIC_PREFIX}trafficweight_step_weight`,
    `Weight of the cluster that its records are given now, and the phase of its ramp: ${STEP_PHASES.join(', ')}. Only the leader reports it.`,
    'phase',
  );
  const byReason = gauge(
    `${METRIC_PREFIX}trafficweight_hosts`,
    `Hosts of a TrafficWeight by what decided their weight: ${HOST_REASONS.join(', ')}. Only the leader reports it.`,
    'reason',
  );
  const ready = gauge(
    `${METRIC_PREFIX}trafficweight_ready`,
    '1 if a TrafficWeight is ready, 0 if not, with the reason of its condition. Only the leader reports it.',
    'reason',
  );
  const hostWeights = createHostMetrics(registry, createBudget);
  const waiting = gauge(
    `${METRIC_PREFIX}trafficweight_unconfirmed_hosts`,
    'Hosts of a namespace that would lose their records, and keep them until that is confirmed. Absent without any. Only the leader reports it.',
    'namespace',
  );
  const waitingBudget = createBudget('namespace', MOST_NAMESPACES);
  const waitingIn = new Map<string, ReadonlySet<string>>();
  const setWaiting = (trafficweight: string, namespaces: Removal['namespaces'] = new Map()): void => {
    for (const namespace of waitingIn.get(trafficweight) ?? []) waiting.remove({ trafficweight, namespace });
    const shown = waitingBudget.show(
      trafficweight,
      Array.from(namespaces.keys(), (id) => ({ owner: id, id })),
    );
    for (const namespace of shown) waiting.set({ trafficweight, namespace }, namespaces.get(namespace)?.hosts ?? 0);
    if (shown.size > 0) waitingIn.set(trafficweight, shown);
    else waitingIn.delete(trafficweight);
  };
  const forgetStep = (trafficweight: string): void => {
    for (const phase of STEP_PHASES) step.remove({ trafficweight, phase });
  };
  const setStep = (trafficweight: string, { ramp, appliedWeight, desiredWeight }: TrafficWeightStatus): void => {
    forgetStep(trafficweight);
    const weight = appliedWeight ?? desiredWeight;
    if (weight !== undefined) step.set({ trafficweight, phase: phaseOf(ramp) }, weight);
  };
  const forgetReady = (trafficweight: string): void => {
    for (const reason of Object.values(WeightReason)) ready.remove({ trafficweight, reason });
  };
  const setReady = (trafficweight: string, { status, reason }: Condition): void => {
    forgetReady(trafficweight);
    ready.set({ trafficweight, reason }, status === 'True' ? 1 : 0);
  };
  const setWeight = (weight: typeof desired, trafficweight: string, value: number | undefined): void => {
    if (value === undefined) weight.remove({ trafficweight });
    else weight.set({ trafficweight }, value);
  };
  return {
    record(trafficweight, status, decided) {
      if (budget.show(trafficweight, [{ owner: '', id: '' }]).size === 0) return;
      const { desiredWeight, currentWeight, conditions } = status;
      const condition = findCondition(conditions, WeightCondition.Ready);
      if (condition !== undefined) setReady(trafficweight, condition);
      setWeight(desired, trafficweight, desiredWeight);
      setWeight(current, trafficweight, currentWeight);
      setStep(trafficweight, status);
      if (decided === undefined) return;
      const { hosts, unconfirmed } = decided;
      setWaiting(trafficweight, unconfirmed?.namespaces);
      hostWeights.set(trafficweight, hosts);
      const counts = countBy(hosts);
      for (const reason of HOST_REASONS) byReason.set({ trafficweight, reason }, counts.get(reason) ?? 0);
    },
    forget(trafficweight) {
      budget.forget(trafficweight);
      hostWeights.forget(trafficweight);
      setWaiting(trafficweight);
      forgetReady(trafficweight);
      forgetStep(trafficweight);
      desired.remove({ trafficweight });
      current.remove({ trafficweight });
      for (const reason of HOST_REASONS) byReason.remove({ trafficweight, reason });
    },
  };
}

function phaseOf(ramp: RampStatus | undefined): (typeof STEP_PHASES)[number] {
  if (ramp === undefined) return 'Reached';
  return isWaiting(ramp) ? 'Waiting' : ramp.phase;
}

function countBy(hosts: readonly HostExplanation[]): Map<HostReason, number> {
  const counts = new Map<HostReason, number>();
  for (const { reason } of hosts) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return counts;
}

/** Series of hosts within three hours, of a namespace and of all. A host has two, and a further one for each reason that it gets. */
const MOST_SERIES = { ofOwner: 5_000, ofAll: 30_000 };

/** The metrics of each host. Only the leader has their series. */
interface HostMetrics {
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
function createHostMetrics(registry: Registry, createBudget: CreateBudget = silentBudgets): HostMetrics {
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
