import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Steps } from './frame.ts';
import { linesPanel, statPanel } from './panels.ts';
import { orZero, own, rate } from './promql.ts';

/** Panels about passes and errors that more than one dashboard has. */

/** Seconds: three, then six of the passes that are 10 s apart unless an option says otherwise, and a scrape of 15 s. */
const AGE_STEPS: Steps = [
  [null, 'green'],
  [45, 'orange'],
  [75, 'red'],
];

/**
 * The moment of the last pass is not told; it is the last one at which the count of passes was higher than 15 s before,
 * looked for in an hour.
 */
const PASSES = own('traffic_operator_passes_total', 'result="ok"');
const LAST_PASS = `max_over_time(timestamp(${PASSES} > ${PASSES} offset 15s)[1h:15s])`;

/** How long ago the last pass that had an answer was. */
export function passAge(): Builder<Panel> {
  return statPanel({
    title: 'Age of the last pass',
    description:
      'Time since a pass over Prometheus last succeeded in any replica, as exact as the operator is scraped. No value: none did within an hour.',
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
    description: 'Passes over Prometheus per second in all replicas: ok, or the reason why they failed.',
    queries: [{ expr: `sum by (result) (${rate('traffic_operator_passes_total')})`, legend: '{{result}}' }],
    unit: 'ops',
  });
}

/** Failed reconciles per second. */
export function errorsByReason(): Builder<Panel> {
  return linesPanel({
    title: 'Errors',
    description: 'Reconciles per second that failed, by controller and reason. The log has the message of each.',
    queries: [
      {
        expr: orZero(`sum by (controller, reason) (${rate('traffic_operator_errors_total')})`),
        legend: '{{controller}} {{reason}}',
      },
    ],
    unit: 'ops',
  });
}
