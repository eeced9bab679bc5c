import type { Row } from './dashboard.ts';
import { linesPanel } from './panels.ts';
import { orZero, own, quantile, rate } from './promql.ts';

/** The operator's dealings with the API server, row by row. */

/** 404 and 409 are answers as good as any: an object that is not there, or that somebody else wrote first. */
const FAILED = 'code!~"[23]..|404|409"';

export const API: Row = {
  title: 'API server',
  panels: [
    linesPanel({
      title: 'Calls',
      description: 'Requests to the API server per second, each repetition counted, by verb and HTTP status.',
      queries: [
        { expr: `sum by (verb, code) (${rate('traffic_operator_api_requests_total')})`, legend: '{{verb}} {{code}}' },
      ],
      unit: 'reqps',
    }),
    linesPanel({
      title: 'Failed calls and retries',
      description:
        'Requests per second without a good answer, by HTTP status or, where no answer came, why; and keys per second that were put back into a work queue to try again.',
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
      description: 'Time to the answer, for a watch to its headers: the slowest but one in a hundred, by verb.',
      queries: [
        { expr: quantile(0.99, 'traffic_operator_api_request_duration_seconds', ['verb']), legend: '{{verb}}' },
      ],
      unit: 's',
    }),
    linesPanel({
      title: 'Connections',
      description: 'Open connections of all replicas to the API server, by what they are for.',
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
        'Watches begun per second, and watches and lists that ended, by why. Some minutes apart each in peace.',
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
      description: 'Complete lists per second that were put into a cache, by how they were read. None in peace.',
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
      description: 'Objects in the caches, by resource, in the replica that has most.',
      queries: [{ expr: `max by (resource) (${own('traffic_operator_reflector_objects')})`, legend: '{{resource}}' }],
    }),
    linesPanel({
      title: 'Defects',
      description:
        'Lines of watches per second that could not be read, and changes whose subscriber threw: report them.',
      queries: [
        {
          expr: orZero(`sum by (resource) (${rate('traffic_operator_reflector_bad_lines_total')})`),
          legend: 'bad line: {{resource}}',
        },
        {
          expr: orZero(`sum by (resource) (${rate('traffic_operator_reflector_listener_failures_total')})`),
          legend: 'subscriber threw: {{resource}}',
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
      description: 'Keys that wait for a worker. A line that keeps rising: reconciles are slower than what makes them.',
      queries: [{ expr: `max by (controller) (${own('traffic_operator_workqueue_depth')})`, legend: '{{controller}}' }],
    }),
    linesPanel({
      title: 'Waiting time',
      description: 'Time a key waited for a worker: the longest but one in a hundred, by controller.',
      queries: [
        { expr: quantile(0.99, 'traffic_operator_workqueue_wait_seconds', ['controller']), legend: '{{controller}}' },
      ],
      unit: 's',
    }),
    linesPanel({
      title: 'Reconciles',
      description: 'Keys added to the queue per second, and reconciles that ended, by how.',
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
      description: 'The slowest but one in a hundred, by controller.',
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
