import { LEADS, NONE_EXPECTED, PLAIN } from './appearance.ts';
import { buildDashboard, type Dashboard, type Row } from './dashboard.ts';
import { API, CACHES, QUEUE } from './operatorRuntime.ts';
import { linesPanel, statesPanel, statPanel } from './panels.ts';
import { errorsByReason, passAge, passesByResult } from './passes.ts';
import { ofLeader, orZero, own, quantile, rate } from './promql.ts';

const LEADER = own('traffic_operator_leader');
const PASS_SECONDS = 'traffic_operator_pass_duration_seconds';
const SETTLED_SECONDS = 'traffic_operator_pass_settled_seconds';

const NOW: Row = {
  title: 'Now',
  panels: [
    statPanel({
      title: 'Leaders',
      description: 'Replicas that lead. None: nothing is written. Two, for more than a scrape: report it.',
      queries: [{ expr: `sum(${LEADER})` }],
      steps: [
        [null, 'red'],
        [1, 'green'],
        [2, 'red'],
      ],
    }),
    statPanel({
      title: 'Replicas',
      description: 'Replicas that are scraped.',
      queries: [{ expr: `count(${LEADER})` }],
      steps: PLAIN,
    }),
    passAge(),
    statPanel({
      title: 'Scraped nodes',
      description: "Nodes that the operator's own Prometheus is told to scrape; 0 where it asks another one.",
      queries: [{ expr: `max ${ofLeader(own('traffic_operator_measurement_targets'))}` }],
      steps: PLAIN,
    }),
    statPanel({
      title: 'Problems of measuring',
      description:
        'What keeps node-exporter and Prometheus from being as they should be; its log and events name them.',
      queries: [{ expr: `max ${ofLeader(own('traffic_operator_measurement_problems'))}` }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Restarts',
      description: 'How often a replica began anew within the last hour, under the same address.',
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
      description: 'Which replica led, and when.',
      queries: [{ expr: `max by (pod, instance) (${LEADER})`, legend: '{{pod}} {{instance}}' }],
      mappings: LEADS,
    }),
    passesByResult(),
    linesPanel({
      title: 'Duration of a pass',
      description:
        'From the start of a pass to its snapshot: the middle one, and the slowest but one in a hundred; and of this until all TrafficWatches have followed it.',
      queries: [
        { expr: quantile(0.5, PASS_SECONDS, []), legend: 'median' },
        { expr: quantile(0.99, PASS_SECONDS, []), legend: '99 %' },
        { expr: quantile(0.99, SETTLED_SECONDS, []), legend: '99 %, with its TrafficWatches' },
      ],
      unit: 's',
    }),
    linesPanel({
      title: 'Queries',
      description: 'Queries to Prometheus per second, by kind and outcome: ok, or the reason why there was no answer.',
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
      description: 'How long Prometheus took to answer: the slowest but one in a hundred, by kind.',
      queries: [
        { expr: quantile(0.99, 'traffic_operator_prometheus_query_duration_seconds', ['kind']), legend: '{{kind}}' },
      ],
      unit: 's',
    }),
    linesPanel({
      title: 'Stray series',
      description:
        'Series of devices in the newest pass whose labels fit no node of the cluster, or several: mostly the exporter of another cluster, or nodes that share an address.',
      queries: [{ expr: `max by (nodes) (${own('traffic_operator_stray_series')})`, legend: 'of {{nodes}}' }],
      unit: 'short',
    }),
    linesPanel({
      title: 'Writes',
      description: 'Writes per second that the API server took, by kind and verb. Next to none while nothing changes.',
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
      description: 'Kubernetes events per second that were written, by type and reason, and that were not, by why.',
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
      title: 'Failed requests',
      description:
        'Requests to the operator itself, and connections, that came to nothing, per second, by server and reason. An error is a fault of the operator, which its log tells; the others are those of clients.',
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
      description:
        'How late timers fire, the latest but one in a hundred. Seconds of it put the lease and liveness at risk.',
      queries: [
        { expr: `max by (pod, instance) (${own('nodejs_eventloop_lag_p99_seconds')})`, legend: '{{pod}} {{instance}}' },
      ],
      unit: 's',
      width: 8,
    }),
    linesPanel({
      title: 'Memory',
      description: 'Resident memory of each replica (RSS); its limit is in the values of the chart.',
      queries: [
        { expr: `max by (pod, instance) (${own('process_resident_memory_bytes')})`, legend: '{{pod}} {{instance}}' },
      ],
      unit: 'bytes',
      width: 8,
    }),
    linesPanel({
      title: 'CPU',
      description: 'Cores that each replica uses.',
      queries: [
        { expr: `sum by (pod, instance) (${rate('process_cpu_seconds_total')})`, legend: '{{pod}} {{instance}}' },
      ],
      unit: 'short',
      width: 8,
    }),
  ],
};

/** The operator itself: whether it works, how fast, and what stands in its way. */
export function operator(): Dashboard {
  return buildDashboard({
    name: 'operator',
    title: 'Operator',
    description: 'Whether the operator works, how fast, and what stands in its way.',
    variables: [],
    rows: [NOW, PASSES, API, CACHES, QUEUE, PROCESS],
  });
}
