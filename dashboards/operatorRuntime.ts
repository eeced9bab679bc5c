import type { Row } from './dashboard.ts';
import { linesPanel } from './panels.ts';
import { orZero, own, quantile, rate } from './promql.ts';

/** Rows about the API server, watches, the work queue and reconciles. */

/** 404 and 409 are not failures: the object does not exist, or another client wrote it first. */
const FAILED = 'code!~"[23]..|404|409"';

export const API: Row = {
  title: 'API server',
  panels: [
    linesPanel({
      title: 'Calls',
      description: 'Requests to the API server per second, including retries, by verb and HTTP status.',
      queries: [
        { expr: `sum by (verb, code) (${rate('traffic_operator_api_requests_total')})`, legend: '{{verb}} {{code}}' },
      ],
      unit: 'reqps',
    }),
    linesPanel({
      title: 'Failed calls and retries',
      description:
        'Failed requests per second, by HTTP status, or by the cause if there was no response; and keys per second that were requeued after a failure.',
      queries: [
        {
          expr: orZero(`sum by (code) (${rate('traffic_operator_api_requests_total', FAILED)})`),
          legend: 'failed: {{code}}',
        },
        {
          expr: orZero(`sum by (controller) (${rate('traffic_operator_workqueue_retries_total')})`),
          legend: 'retried: {{controller}}',
        },
      ],
      unit: 'ops',
    }),
    linesPanel({
      title: 'Duration of calls',
      description: 'Time to the response, for a watch to the response headers; 99th percentile, by verb.',
      queries: [
        { expr: quantile(0.99, 'traffic_operator_api_request_duration_seconds', ['verb']), legend: '{{verb}}' },
      ],
      unit: 's',
    }),
    linesPanel({
      title: 'Connections',
      description: 'Open connections of all replicas to the API server, by purpose.',
      queries: [{ expr: `sum by (lane) (${own('traffic_operator_api_connections')})`, legend: '{{lane}}' }],
    }),
  ],
};

export const CACHES: Row = {
  title: 'Watches',
  panels: [
    linesPanel({
      title: 'Watches',
      description:
        'Watches started per second, and watches and lists that ended, by reason. In normal operation each watch lasts some minutes.',
      queries: [
        {
          expr: `sum by (resource) (${rate('traffic_operator_reflector_watches_total')})`,
          legend: 'begun: {{resource}}',
        },
        {
          expr: orZero(`sum by (reason) (${rate('traffic_operator_reflector_watch_ends_total')})`),
          legend: 'ended: {{reason}}',
        },
      ],
      unit: 'ops',
    }),
    linesPanel({
      title: 'Lists',
      description: 'Full lists written to a cache per second, by the way they were read. None in normal operation.',
      queries: [
        {
          expr: `sum by (resource, how) (${rate('traffic_operator_reflector_lists_total')})`,
          legend: '{{resource}} {{how}}',
        },
      ],
      unit: 'ops',
    }),
    linesPanel({
      title: 'Cached objects',
      description: 'Objects in the caches, by resource, in the replica with the most objects.',
      queries: [{ expr: `max by (resource) (${own('traffic_operator_reflector_objects')})`, legend: '{{resource}}' }],
    }),
    linesPanel({
      title: 'Memory of cached objects',
      description:
        'Part of the memory that cached objects may take: of all namespaces together, and of each cluster-wide kind, in the replica with most. Near 100 %, the largest are dropped and not reconciled: make them smaller or fewer.',
      queries: [
        { expr: `max by (budget) (${own('traffic_operator_reflector_body_memory_ratio')})`, legend: '{{budget}}' },
      ],
      unit: 'percentunit',
    }),
    linesPanel({
      title: 'Bad watch lines, failed subscribers and dropped bodies',
      description:
        'Lines of watch responses that could not be parsed, and cache events whose subscriber threw an error, per second: each is a bug, report it. And objects of namespaces that take too much memory of the caches: make these objects smaller or fewer.',
      queries: [
        {
          expr: orZero(`sum by (resource) (${rate('traffic_operator_reflector_bad_lines_total')})`),
          legend: 'bad line: {{resource}}',
        },
        {
          expr: orZero(`sum by (resource) (${rate('traffic_operator_reflector_listener_failures_total')})`),
          legend: 'subscriber threw: {{resource}}',
        },
        {
          expr: orZero(`sum by (resource) (${rate('traffic_operator_reflector_dropped_bodies_total')})`),
          legend: 'body dropped: {{resource}}',
        },
      ],
      unit: 'ops',
    }),
  ],
};

export const QUEUE: Row = {
  title: 'Work queue and reconciles',
  panels: [
    linesPanel({
      title: 'Work queue',
      description:
        'Keys that wait for a worker. If a line keeps rising, keys are added faster than they are reconciled.',
      queries: [{ expr: `max by (controller) (${own('traffic_operator_workqueue_depth')})`, legend: '{{controller}}' }],
    }),
    linesPanel({
      title: 'Waiting time',
      description: 'Time that a key waited for a worker, 99th percentile, by controller.',
      queries: [
        { expr: quantile(0.99, 'traffic_operator_workqueue_wait_seconds', ['controller']), legend: '{{controller}}' },
      ],
      unit: 's',
    }),
    linesPanel({
      title: 'Reconciles',
      description: 'Keys added to the queue per second, and reconciles that ended, by result.',
      queries: [
        {
          expr: `sum by (controller) (${rate('traffic_operator_workqueue_adds_total')})`,
          legend: 'added: {{controller}}',
        },
        {
          expr: `sum by (controller, result) (${rate('traffic_operator_reconciles_total')})`,
          legend: '{{controller}} {{result}}',
        },
      ],
      unit: 'ops',
    }),
    linesPanel({
      title: 'Duration of reconciles',
      description: 'Duration of a reconcile, 99th percentile, by controller.',
      queries: [
        {
          expr: quantile(0.99, 'traffic_operator_reconcile_duration_seconds', ['controller']),
          legend: '{{controller}}',
        },
      ],
      unit: 's',
    }),
  ],
};
