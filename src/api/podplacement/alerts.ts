import type { AlertGroup, OfLeader } from '../alertingRule.ts';

/** Results with which a pod of the API server gets no terms. Only other clients send malformed requests. */
const REFUSED = 'result=~"overloaded|unauthenticated"';

/** Returns the alerts about the placement webhook, silent without it. With the placement policy, the first is silent, since no pod needs the webhook. */
export function placementAlerts(ofLeader: OfLeader): AlertGroup {
  return {
    name: 'placement-webhook',
    rules: [
      {
        alert: 'PlacementWebhookNotReady',
        expr: `max(${ofLeader('traffic_operator_placement_webhook_ready')}) == 0`,
        for: '5m',
        severity: 'warning',
        summary: 'The placement webhook is not ready',
        description:
          'For 5 minutes, the webhook has had no ready pod or no certificate. New pods of TrafficWatches with targetRef or podSelector run on any node.',
      },
      {
        alert: 'PlacementWebhookRefusing',
        expr: `sum by (result) (increase(traffic_operator_placement_webhook_requests_total{${REFUSED}}[5m])) > 0`,
        for: '5m',
        severity: 'warning',
        summary: 'The placement webhook refuses requests: {{ $labels.result }}',
        description:
          'For 5 minutes, the webhook has refused {{ $value | humanize }} requests in 5 minutes, for lack of room or of a client certificate. If the API server sent them, its pods run on any node.',
      },
    ],
  };
}
