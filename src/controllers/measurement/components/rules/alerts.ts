import type { AlertGroup, AlertingRule } from '../../../../api/alertingRule.ts';
import { placementAlerts } from '../../../../api/podplacement/alerts.ts';
import { stackAlerts } from '../../../../api/trafficstack/alerts.ts';
import { earlierWeightAlerts, weightAlerts } from '../../../../api/trafficweight/alerts.ts';
import { classAlerts, originalAlerts } from '../../../../connectivity/alerts.ts';
import { OPERATOR_JOB, WEIGHTS_JOB } from '../../names.ts';
import type { MeasurementOptions } from '../../options.ts';
import { renderRules } from './rule.ts';

const OPERATOR = `job="${OPERATOR_JOB}"`;
/** Matches the pods for DNS weights, also where one scrape job has all pods of the operator. */
const WEIGHTS = `job=~"${OPERATOR_JOB}|${WEIGHTS_JOB}"`;
/** Selects the leader: only it writes, and the view of a standby may differ for a moment. */
const OF_LEADER = ofLeaderWith(OPERATOR);

/** Nodes that the operator cannot measure, such as those that are not Ready. */
const NOT_MEASURABLE = `traffic_operator_node_not_measurable{${OPERATOR}} == 1`;

type Shown = Pick<MeasurementOptions, 'operatorMetrics' | 'weights'>;

/** Renders the alerting rules. Without the operator's metrics, only rules about other metrics are useful. */
export function renderAlertingRules(options: Shown): string {
  return renderGroups(groupsWith(options), options);
}

/**
 * The alerting rules whose change restarts Prometheus. An upgrade from a version without stacks changes none of them, since a restart loses the
 * samples in an emptyDir: those about stacks and about the placement webhook are not among them, and the others are as they were. A running Prometheus has the new
 * ones from its next start on. Until then the old ones are right, since the deployed Prometheus has a job of its own for each Deployment.
 */
export function renderRestartingRules(options: Shown): string {
  const groups = groupsWith(options).filter((group) => !LATER.includes(group));
  return renderGroups(
    groups.map((group) => EARLIER.get(group) ?? group),
    options,
  );
}

function renderGroups(all: readonly AlertGroup[], { operatorMetrics }: Shown): string {
  const groups = operatorMetrics ? all : all.filter((group) => !OF_THE_OPERATOR.includes(group));
  return renderRules('Alerts. docs/runbooks.md describes what to do for each.', groups);
}

/** All alerts. */
export function allAlerts(): AlertingRule[] {
  return groupsWith({ weights: true }).flatMap(({ rules }) => rules);
}

/**
 * @param absent whether no pod of the manager is scraped
 * @param leaders the series of the manager's pods that say whether they lead
 */
const operatorAlerts = ({ absent, leaders }: Record<'absent' | 'leaders', string>): AlertGroup => ({
  name: 'traffic-operator',
  rules: [
    {
      alert: 'TrafficOperatorAbsent',
      expr: absent,
      for: '5m',
      severity: 'critical',
      summary: 'traffic-operator is down',
      description: 'Prometheus has scraped no pod of the operator for 5 minutes. Node labels are unchanged.',
    },
    {
      alert: 'TrafficOperatorWithoutLeader',
      expr: `sum(${leaders}) == 0`,
      for: '2m',
      severity: 'critical',
      summary: 'traffic-operator has no leader',
      description: 'Replicas run, but none has held the Lease for 2 minutes. Nothing is written.',
    },
    {
      alert: 'TrafficOperatorPrometheusUnreachable',
      // A pod that never succeeded has no series for "ok", hence `unless` instead of `== 0`.
      expr: `sum by (pod) (increase(traffic_operator_passes_total{${OPERATOR},result!="ok"}[5m])) > 0
unless
sum by (pod) (increase(traffic_operator_passes_total{${OPERATOR},result="ok"}[5m])) > 0`,
      for: '5m',
      severity: 'critical',
      summary: '{{ $labels.pod }} cannot query Prometheus',
      description: 'All passes have failed for 10 minutes. Verdicts and node labels are unchanged.',
    },
    {
      alert: 'TrafficWatchNotReady',
      expr: `max by (namespace, trafficwatch) (traffic_operator_trafficwatch_ready{${OPERATOR}} ${OF_LEADER}) == 0`,
      for: '10m',
      severity: 'warning',
      summary: 'TrafficWatch {{ $labels.namespace }}/{{ $labels.trafficwatch }} is not ready',
      description: 'It has been stalled, or its nodes undecided, for 10 minutes. Its conditions give the reason.',
    },
    {
      alert: 'TrafficWatchPodsBlocked',
      expr: `max by (namespace, trafficwatch) (traffic_operator_trafficwatch_blocked_pods{${OPERATOR}} ${OF_LEADER}) > 0`,
      for: '10m',
      severity: 'warning',
      summary: '{{ $value }} pods of {{ $labels.namespace }}/{{ $labels.trafficwatch }} find no node',
      description:
        'Pods of the workload have been Pending for 10 minutes while nodes are unfit. status.blockedPods names some.',
    },
    {
      alert: 'TrafficOperatorMeasurementProblem',
      expr: `max(traffic_operator_measurement_problems{${OPERATOR}} ${OF_LEADER}) > 0`,
      for: '15m',
      severity: 'warning',
      summary: 'node-exporter or Prometheus is not in the desired state',
      description:
        '{{ $value }} problems with node-exporter or Prometheus for 15 minutes. The log and the events of the operator name them.',
    },
  ],
});

/** Selects the manager's series, also where one scrape job has other pods: their series would hide that the manager is down. */
const OF_MANAGER = `traffic_operator_leader{${OPERATOR},process="manager"}`;
const SERIES_LEFT_OUT: AlertingRule = {
  alert: 'TrafficOperatorSeriesLeftOut',
  expr: `max by (kind) ${ofLeader('traffic_operator_metric_series_left_out', undefined, WEIGHTS)} > 0`,
  for: '15m',
  severity: 'warning',
  summary: '{{ $value }} series of the kind {{ $labels.kind }} are left out of the metrics',
  description:
    'Too many names were new within three hours. Alerts about these series do not fire. The log of the operator names the namespace.',
};
const BY_PROCESS = operatorAlerts({ absent: `absent(sum(${OF_MANAGER}))`, leaders: OF_MANAGER });
const OPERATOR_ALERTS: AlertGroup = {
  ...BY_PROCESS,
  rules: [...BY_PROCESS.rules, SERIES_LEFT_OUT],
};
/** As in versions without the label process, and without the alert about series that are left out. */
const OPERATOR_ALERTS_BY_JOB = operatorAlerts({
  absent: `absent(up{${OPERATOR}} == 1)`,
  leaders: `traffic_operator_leader{${OPERATOR}}`,
});

const NODE_ALERTS: AlertGroup = {
  name: 'traffic-operator-nodes',
  rules: [
    {
      alert: 'NodeBandwidthOverThreshold',
      expr: `max by (namespace, trafficwatch, node) (traffic_operator_node_unfit{${OPERATOR}} ${OF_LEADER}) == 1`,
      for: '15m',
      severity: 'warning',
      summary: '{{ $labels.node }} is unfit for {{ $labels.namespace }}/{{ $labels.trafficwatch }}',
      description:
        'The node has been unfit for 15 minutes. It gets no new pods of that TrafficWatch, unless its mode is Observe or its placement Preferred.',
    },
    {
      alert: 'TrafficWatchBreakerOpen',
      expr: `max by (namespace, trafficwatch) (traffic_operator_trafficwatch_held_nodes{${OPERATOR}} ${OF_LEADER}) > 0`,
      for: '15m',
      severity: 'warning',
      summary: 'TrafficWatch {{ $labels.namespace }}/{{ $labels.trafficwatch }} allows no more unfit nodes',
      description:
        '{{ $value }} nodes above the threshold have counted as fit for 15 minutes, since maxUnfit or minFit allows no more unfit nodes.',
    },
    {
      alert: 'NodeBandwidthUnknown',
      expr: `max by (namespace, trafficwatch) (traffic_operator_trafficwatch_nodes{${OPERATOR},verdict="Unknown"} ${OF_LEADER}) > 0`,
      for: '15m',
      severity: 'warning',
      summary: '{{ $value }} nodes have no bandwidth figures',
      description:
        'TrafficWatch {{ $labels.namespace }}/{{ $labels.trafficwatch }} has had no figures for them for 15 minutes. Their labels are unchanged.',
    },
  ],
};

const EXPORTER_ALERTS: AlertGroup = {
  name: 'node-exporter',
  rules: [
    {
      alert: 'NodeExporterDown',
      expr: `up{job="node-exporter"} == 0
unless on (node)
${NOT_MEASURABLE}`,
      for: '5m',
      severity: 'warning',
      summary: 'node-exporter on {{ $labels.node }} is down',
      description: 'Prometheus has not scraped it for 5 minutes. The node is not measured.',
    },
  ],
};

const CLASS_ALERTS = classAlerts(ofLeader);
/** The alerts without the process for DNS weights, as in earlier versions: other texts would restart Prometheus, although the alerts are silent. */
const SILENT_WEIGHT_ALERTS = weightAlerts(ofLeader);
const WEIGHT_ALERTS = weightAlerts((metric, matchers) => ofLeader(metric, matchers, WEIGHTS), {
  manager: OPERATOR,
  any: WEIGHTS,
  own: `job="${WEIGHTS_JOB}"`,
});
const STACK_ALERTS = stackAlerts(ofLeader);
const PLACEMENT_ALERTS = placementAlerts(ofLeader);
/** Groups that versions before stacks do not have. */
const LATER: readonly AlertGroup[] = [STACK_ALERTS, PLACEMENT_ALERTS];

const EARLIER_CLASS_ALERTS: AlertGroup = {
  ...CLASS_ALERTS,
  rules: CLASS_ALERTS.rules.filter(({ alert }) => alert !== 'ConnectivityLatencyFault'),
};
const EARLIER_SILENT_WEIGHT_ALERTS = earlierWeightAlerts(SILENT_WEIGHT_ALERTS);
const EARLIER_WEIGHT_ALERTS = earlierWeightAlerts(WEIGHT_ALERTS);
/** Groups as they were, by the group. */
const EARLIER: ReadonlyMap<AlertGroup, AlertGroup> = new Map([
  [OPERATOR_ALERTS, OPERATOR_ALERTS_BY_JOB],
  [CLASS_ALERTS, EARLIER_CLASS_ALERTS],
  [SILENT_WEIGHT_ALERTS, EARLIER_SILENT_WEIGHT_ALERTS],
  [WEIGHT_ALERTS, EARLIER_WEIGHT_ALERTS],
]);

/** The groups whose metrics the operator serves. */
const OF_THE_OPERATOR: readonly AlertGroup[] = [
  OPERATOR_ALERTS,
  OPERATOR_ALERTS_BY_JOB,
  NODE_ALERTS,
  CLASS_ALERTS,
  EARLIER_CLASS_ALERTS,
  SILENT_WEIGHT_ALERTS,
  WEIGHT_ALERTS,
  EARLIER_SILENT_WEIGHT_ALERTS,
  EARLIER_WEIGHT_ALERTS,
  ...LATER,
];

function groupsWith({ weights = false }: Pick<Shown, 'weights'>): readonly AlertGroup[] {
  return [
    OPERATOR_ALERTS,
    NODE_ALERTS,
    EXPORTER_ALERTS,
    originalAlerts(NOT_MEASURABLE),
    CLASS_ALERTS,
    weights ? WEIGHT_ALERTS : SILENT_WEIGHT_ALERTS,
    ...LATER,
  ];
}

function ofLeader(metric: string, matchers?: string, job = OPERATOR): string {
  const labels = matchers === undefined ? job : `${job},${matchers}`;
  return `(${metric}{${labels}} ${ofLeaderWith(job)})`;
}

function ofLeaderWith(job: string): string {
  return `and on (pod) (traffic_operator_leader{${job}} == 1)`;
}
