import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Steps } from './frame.ts';
import { linesPanel, statPanel } from './panels.ts';
import { orZero, own, rate } from './promql.ts';

/** Panels about passes and errors that several dashboards share. */

/** Seconds: three and six passes at the default interval of 10 s, plus a scrape interval of 15 s. */
const AGE_STEPS: Steps = [
  [null, 'green'],
  [45, 'orange'],
  [75, 'red'],
];

/**
 * The operator does not export the time of the last pass. This is the last time within an hour at which the counter of
 * passes was higher than 15 s before.
 */
const PASSES = own('traffic_operator_passes_total', 'result="ok"');
const LAST_PASS = `max_over_time(timestamp(${PASSES} > ${PASSES} offset 15s)[1h:15s])`;

/** Time since the last successful pass. */
export function passAge(): Builder<Panel> {
  return statPanel({
    title: 'Age of the last pass',
    description:
      'Time since the last successful pass of any replica, with the precision of the scrape interval. No value: no pass succeeded within the last hour.',
    queries: [{ expr: `time() - max(${LAST_PASS})` }],
    unit: 's',
    decimals: 0,
    steps: AGE_STEPS,
  });
}

/** Passes per second, by result. */
export function passesByResult(): Builder<Panel> {
  return linesPanel({
    title: 'Passes',
    description: 'Passes per second of all replicas, by result: ok, or the reason of the failure.',
    queries: [{ expr: `sum by (result) (${rate('traffic_operator_passes_total')})`, legend: '{{result}}' }],
    unit: 'ops',
  });
}

/** Failed reconciles per second. */
export function errorsByReason(): Builder<Panel> {
  return linesPanel({
    title: 'Errors',
    description: 'Failed reconciles per second, by controller and reason. The log has the messages.',
    queries: [
      {
        expr: orZero(`sum by (controller, reason) (${rate('traffic_operator_errors_total')})`),
        legend: '{{controller}} {{reason}}',
      },
    ],
    unit: 'ops',
  });
}
