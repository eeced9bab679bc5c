import { READY } from './appearance.ts';
import type { Row } from './dashboard.ts';
import { linesPanel, statPanel } from './panels.ts';
import { ofLeader, own, quantile, rate } from './promql.ts';

/** The placement webhook. Without it the panels are empty. */
export const PLACEMENT: Row = {
  title: 'Placement webhook',
  panels: [
    statPanel({
      title: 'Placement webhook',
      description:
        'Whether the placement webhook has a certificate and a ready pod. While it is not ready, new pods of TrafficWatches with targetRef or podSelector run on any node. Empty without the webhook.',
      queries: [{ expr: `max ${ofLeader(own('traffic_operator_placement_webhook_ready'))}` }],
      mappings: READY,
    }),
    linesPanel({
      title: 'Requests to the placement webhook',
      description:
        'Requests per second by result. Pods get no terms with the results failed, overloaded and unauthenticated; only clients that are not the API server send malformed requests.',
      queries: [
        {
          expr: `sum by (result) (${rate('traffic_operator_placement_webhook_requests_total')})`,
          legend: '{{result}}',
        },
      ],
      unit: 'reqps',
      width: 10,
    }),
    linesPanel({
      title: 'Duration of these requests',
      description:
        'Time from the headers of a request to its answer, median and 99th percentile. After 2 s the API server creates the pod without terms.',
      queries: [
        { expr: quantile(0.5, 'traffic_operator_placement_webhook_request_duration_seconds', []), legend: 'p50' },
        { expr: quantile(0.99, 'traffic_operator_placement_webhook_request_duration_seconds', []), legend: 'p99' },
      ],
      unit: 's',
      width: 10,
    }),
  ],
};
