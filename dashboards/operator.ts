import { LEADS, NONE_EXPECTED, PLAIN } from './appearance.ts';
import { buildDashboard, type Dashboard, type Row } from './dashboard.ts';
import { API, CACHES, QUEUE } from './operatorRuntime.ts';
import { linesPanel, statesPanel, statPanel } from './panels.ts';
import { PLACEMENT } from './placement.ts';
import { errorsByReason, passAge, passesByResult } from './passes.ts';
import { ofLeader, orZero, own, quantile, rate } from './promql.ts';

const LEADER = own('traffic_operator_leader');
const PASS_SECONDS = 'traffic_operator_pass_duration_seconds';
const SETTLED_SECONDS = 'traffic_operator_pass_settled_seconds';

const NOW: Row = {
  title: 'Current state',
  panels: [
    statPanel({
      title: 'Leaders',
      description:
        'Number of leading replicas: of the manager, and of the pods for DNS weights (weights). 0: nothing is written. 2 for longer than one scrape is a bug: report it.',
      queries: [{ expr: `sum by (process) (${LEADER})`, legend: '{{process}}' }],
      steps: [
        [null, 'red'],
        [1, 'green'],
        [2, 'red'],
      ],
    }),
    statPanel({
      title: 'Replicas',
      description:
        'Number of replicas that Prometheus scrapes: of the manager, and of the pods for DNS weights (weights), 0 if none runs although the manager expects one.',
      queries: [
        {
          expr: `count by (process) (${LEADER}) or 0 * max by (process) (${own('traffic_operator_process_expected')})`,
          legend: '{{process}}',
        },
      ],
      steps: PLAIN,
    }),
    passAge(),
    statPanel({
      title: 'Scraped nodes',
      description:
        'Nodes in the scrape targets of the deployed Prometheus; 0 if the operator queries an existing Prometheus.',
      queries: [{ expr: `max ${ofLeader(own('traffic_operator_measurement_targets'))}` }],
      steps: PLAIN,
    }),
    statPanel({
      title: 'Measurement problems',
      description:
        'Problems that keep node-exporter or Prometheus from the desired state. The log and the events of the operator name them.',
      queries: [{ expr: `max ${ofLeader(own('traffic_operator_measurement_problems'))}` }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Connectivity deployment problems',
      description:
        'Problems that keep the server or the agents of the connectivity check from the desired state. The log and the events of the operator name them.',
      queries: [{ expr: `max ${ofLeader(own('traffic_operator_connectivity_deployment_problems'))}` }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Restarts',
      description: 'Restarts of replicas within the last hour, under the same address.',
      queries: [{ expr: `sum(changes(${own('process_start_time_seconds')}[1h]))` }],
      steps: NONE_EXPECTED,
    }),
  ],
};

const PASSES: Row = {
  title: 'Leader and passes',
  panels: [
    statesPanel({
      title: 'Leader',
      description: 'The leading replica over time.',
      queries: [{ expr: `max by (pod, instance) (${LEADER})`, legend: '{{pod}} {{instance}}' }],
      mappings: LEADS,
    }),
    passesByResult(),
    linesPanel({
      title: 'Duration of a pass',
      description:
        'Time from the start of a pass to its snapshot, median and 99th percentile; and to the end of the reconciles of all TrafficWatches, 99th percentile.',
      queries: [
        { expr: quantile(0.5, PASS_SECONDS, []), legend: 'median' },
        { expr: quantile(0.99, PASS_SECONDS, []), legend: '99th percentile' },
        { expr: quantile(0.99, SETTLED_SECONDS, []), legend: '99th percentile, with reconciles' },
      ],
      unit: 's',
    }),
    linesPanel({
      title: 'TrafficWatches beyond the limits',
      description:
        'TrafficWatches that are not decided, since their namespace or the cluster has more than the operator decides. Their status says which limit, and what to do.',
      queries: [{ expr: `max(${own('traffic_operator_trafficwatches_beyond_limits')})`, legend: 'not decided' }],
      decimals: 0,
    }),
    linesPanel({
      title: 'Labels of the operator on each node',
      description:
        'Bytes of the labels, keys and values, that TrafficWatches put on each node that they select. A Node may have 1.5 MiB altogether.',
      queries: [{ expr: `max(${own('traffic_operator_node_label_bytes')})`, legend: 'labels' }],
      unit: 'bytes',
    }),
    linesPanel({
      title: 'Queries',
      description: 'Queries to Prometheus per second, by kind and outcome: ok, or the reason of the failure.',
      queries: [
        {
          expr: `sum by (kind, outcome) (${rate('traffic_operator_prometheus_query_duration_seconds_count')})`,
          legend: '{{kind}} {{outcome}}',
        },
      ],
      unit: 'reqps',
    }),
    linesPanel({
      title: 'Duration of queries',
      description: 'Duration of queries to Prometheus, 99th percentile, by kind.',
      queries: [
        { expr: quantile(0.99, 'traffic_operator_prometheus_query_duration_seconds', ['kind']), legend: '{{kind}}' },
      ],
      unit: 's',
    }),
    linesPanel({
      title: 'Lag of samples',
      description:
        'How late samples of the nodes reach Prometheus: the age of the newest sample that 95 % of the series exceed. Figures are as old. No value: not known yet, or no pass succeeds.',
      queries: [{ expr: `max(${own('traffic_operator_sample_lag_seconds')})`, legend: 'lag' }],
      unit: 's',
    }),
    linesPanel({
      title: 'Late nodes',
      description:
        'Nodes whose samples reach Prometheus 30 s late or more. Their figures are as old, or absent: MetricsAvailable of a TrafficWatch names them.',
      queries: [{ expr: `max(${own('traffic_operator_late_nodes')})`, legend: 'late' }],
    }),
    linesPanel({
      title: 'Stray series',
      description:
        'Device series in the newest pass whose labels match no node, or several nodes. Usual causes: exporters of another cluster, or nodes that share an address.',
      queries: [{ expr: `max by (nodes) (${own('traffic_operator_stray_series')})`, legend: 'of {{nodes}}' }],
      unit: 'short',
    }),
    linesPanel({
      title: 'Writes',
      description:
        'Writes per second that the API server accepted, by kind and verb. Almost none while nothing changes.',
      queries: [
        {
          expr: orZero(`sum by (kind, verb) (${rate('traffic_operator_writes_total')})`),
          legend: '{{kind}} {{verb}}',
        },
      ],
      unit: 'wps',
    }),
    errorsByReason(),
    linesPanel({
      title: 'Events',
      description: 'Kubernetes events per second: written, by type and reason; dropped, by cause.',
      queries: [
        {
          expr: orZero(`sum by (type, reason) (${rate('traffic_operator_events_total')})`),
          legend: '{{type}} {{reason}}',
        },
        {
          expr: orZero(`sum by (cause) (${rate('traffic_operator_events_dropped_total')})`),
          legend: 'dropped: {{cause}}',
        },
      ],
      unit: 'ops',
    }),
    linesPanel({
      title: 'Series left out',
      description:
        'Objects or parts of objects without series, by kind, since too many had a new name within three hours. The log of the operator names their namespace, or the object itself.',
      queries: [
        {
          expr: `max by (kind) ${ofLeader(own('traffic_operator_metric_series_left_out'))}`,
          legend: '{{kind}}',
        },
      ],
      unit: 'short',
    }),
    linesPanel({
      title: 'Failed requests',
      description:
        'Failed requests and connections to the HTTP servers of the operator per second, by server and reason. The reason error is a fault of the operator, and its log has the details; the other reasons are faults of clients.',
      queries: [
        {
          expr: orZero(`sum by (server, reason) (${rate('traffic_operator_http_requests_failed_total')})`),
          legend: '{{server}}: {{reason}}',
        },
      ],
      unit: 'reqps',
    }),
  ],
};

const PROCESS: Row = {
  title: 'Process',
  panels: [
    linesPanel({
      title: 'Event-loop lag',
      description: 'Delay of timers, 99th percentile. A delay of seconds endangers the Lease and the liveness probe.',
      queries: [
        { expr: `max by (pod, instance) (${own('nodejs_eventloop_lag_p99_seconds')})`, legend: '{{pod}} {{instance}}' },
      ],
      unit: 's',
      width: 8,
    }),
    linesPanel({
      title: 'Memory',
      description: 'Resident memory (RSS) of each replica. The limit is resources.limits.memory in the chart values.',
      queries: [
        { expr: `max by (pod, instance) (${own('process_resident_memory_bytes')})`, legend: '{{pod}} {{instance}}' },
      ],
      unit: 'bytes',
      width: 8,
    }),
    linesPanel({
      title: 'CPU',
      description: 'CPU cores used by each replica.',
      queries: [
        { expr: `sum by (pod, instance) (${rate('process_cpu_seconds_total')})`, legend: '{{pod}} {{instance}}' },
      ],
      unit: 'short',
      width: 8,
    }),
  ],
};

/** The dashboard Operator: the health of the operator itself. */
export function operator(): Dashboard {
  return buildDashboard({
    name: 'operator',
    title: 'Operator',
    description:
      'Health of the operator: leader, passes, queries, writes, errors, API calls, process and the placement webhook.',
    variables: [],
    rows: [NOW, PASSES, API, CACHES, QUEUE, PROCESS, PLACEMENT],
  });
}
