import type { MeasurementOptions } from '../../options.ts';
import { renderRules } from './rule.ts';
import type { AlertingRule, RuleGroup } from './rule.ts';

const OPERATOR = 'job="traffic-operator"';
/** Only the leader writes; a standby's view may be another for a moment. */
const OF_LEADER = `and on (pod) (traffic_operator_leader{${OPERATOR}} == 1)`;

/** The alerting rules. Those about the operator need its metrics: without them they would only say that it is absent. */
export function renderAlertingRules({ operatorMetrics }: Pick<MeasurementOptions, 'operatorMetrics'>): string {
  const operator = operatorMetrics ? [OPERATOR_ALERTS, NODE_ALERTS] : [];
  return renderRules('What a person should know of. docs/runbooks.md says what to do.', [...operator, EXPORTER_ALERTS]);
}

/** Every alert there is. */
export function allAlerts(): AlertingRule[] {
  return [OPERATOR_ALERTS, NODE_ALERTS, EXPORTER_ALERTS].flatMap(({ rules }) =>
    rules.filter((rule): rule is AlertingRule => 'alert' in rule),
  );
}

const OPERATOR_ALERTS: RuleGroup = {
  name: 'traffic-operator',
  rules: [
    {
      alert: 'TrafficOperatorAbsent',
      expr: `absent(up{${OPERATOR}} == 1)`,
      for: '5m',
      severity: 'critical',
      summary: 'No traffic-operator answers',
      description: 'No pod of the operator has answered a scrape for 5 minutes: labels on nodes stay as they were.',
    },
    {
      alert: 'TrafficOperatorWithoutLeader',
      expr: `sum(traffic_operator_leader{${OPERATOR}}) == 0`,
      for: '2m',
      severity: 'critical',
      summary: 'No replica of traffic-operator leads',
      description: 'Replicas run, and none has held the lease for 2 minutes: nothing is written.',
    },
    {
      alert: 'TrafficOperatorPrometheusUnreachable',
      // A counter that is not there has not increased: a pod that never succeeded has no series for "ok".
      expr: `sum by (pod) (increase(traffic_operator_passes_total{${OPERATOR},result!="ok"}[5m])) > 0
unless
sum by (pod) (increase(traffic_operator_passes_total{${OPERATOR},result="ok"}[5m])) > 0`,
      for: '5m',
      severity: 'critical',
      summary: '{{ $labels.pod }} gets no answer from Prometheus',
      description: 'All passes over Prometheus have failed for 10 minutes: verdicts stay as they were.',
    },
    {
      alert: 'TrafficWatchNotReady',
      expr: `max by (namespace, trafficwatch) (traffic_operator_trafficwatch_ready{${OPERATOR}} ${OF_LEADER}) == 0`,
      for: '10m',
      severity: 'warning',
      summary: 'TrafficWatch {{ $labels.namespace }}/{{ $labels.trafficwatch }} is not ready',
      description: 'For 10 minutes its nodes have not been decided, or it is stalled; its conditions say why.',
    },
    {
      alert: 'TrafficOperatorMeasurementProblem',
      expr: `max(traffic_operator_measurement_problems{${OPERATOR}} ${OF_LEADER}) > 0`,
      for: '15m',
      severity: 'warning',
      summary: 'node-exporter or Prometheus is not as it should be',
      description:
        '{{ $value }} problems keep what the operator measures with from being as it should be; its log and events name them.',
    },
  ],
};

const NODE_ALERTS: RuleGroup = {
  name: 'traffic-operator-nodes',
  rules: [
    {
      alert: 'NodeBandwidthOverThreshold',
      expr: `max by (namespace, trafficwatch, node) (traffic_operator_node_unfit{${OPERATOR}} ${OF_LEADER}) == 1`,
      for: '15m',
      severity: 'warning',
      summary:
        'The network of {{ $labels.node }} is fuller than {{ $labels.namespace }}/{{ $labels.trafficwatch }} allows',
      description: 'It has been over the threshold for 15 minutes: no new pods of that TrafficWatch are put there.',
    },
    {
      alert: 'NodeBandwidthUnknown',
      expr: `max by (namespace, trafficwatch) (traffic_operator_trafficwatch_nodes{${OPERATOR},verdict="Unknown"} ${OF_LEADER}) > 0`,
      for: '15m',
      severity: 'warning',
      summary: 'Nothing is known of {{ $value }} nodes',
      description:
        'TrafficWatch {{ $labels.namespace }}/{{ $labels.trafficwatch }} has had no figures for them for 15 minutes: their labels stay as they were.',
    },
  ],
};

const EXPORTER_ALERTS: RuleGroup = {
  name: 'node-exporter',
  rules: [
    {
      alert: 'NodeExporterDown',
      expr: `up{job="node-exporter"} == 0
unless on (node)
traffic_operator_node_not_measurable{${OPERATOR}} == 1`,
      for: '5m',
      severity: 'warning',
      summary: 'node-exporter on {{ $labels.node }} does not answer',
      description: 'Prometheus has not been able to scrape it for 5 minutes: the node is not measured.',
    },
  ],
};
