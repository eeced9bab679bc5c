import type { AlertGroup, OfLeader } from '../alertingRule.ts';
import { StackReason } from './reasons.ts';
import type { ComponentState } from './terms.ts';

/** The two states with their own alerts. */
const FAILED: ComponentState = 'Failed';
const DEGRADED: ComponentState = 'Degraded';
/** States of a component that waits for no other component: others may wait for it. */
const ROOTS = ['Progressing', 'Unknown', 'Removing'] as const satisfies ComponentState[];
/** Time until the alert about a stack that is not ready, seconds. */
const LATE_SECONDS = 900;

/**
 * Returns the alerts about stacks, silent without TrafficStacks. A fault fires one alert, the most specific: a component that is
 * Failed or Degraded, also if another owner has an object of its name; then a stack with an invalid spec; then a stack that is
 * not ready for another reason.
 *
 * TrafficStackNotReady names the component that the others wait for. This component changes from step to step, and each change
 * would restart the time of a `for`. So the alert uses the time in the status, which also survives a restart. If the objects cannot
 * be read, there is no such component, and the alert has the reason. Without both, changes wait, for example for `upgrade.query`:
 * all components that are not ready are Waiting.
 */
export function stackAlerts(ofLeader: OfLeader): AlertGroup {
  const inState = (...states: readonly ComponentState[]): string => {
    const matcher = states.length === 1 ? `state="${states.join('')}"` : `state=~"${states.join('|')}"`;
    return `max by (stack, component) ${ofLeader('traffic_operator_stack_component_state', matcher)} == 1`;
  };
  const ready = 'traffic_operator_stack_ready';
  const notRead = ofLeader(ready, `reason="${StackReason.NotRead}"`);
  const since = `max by (stack) ${ofLeader('traffic_operator_stack_ready_since_timestamp_seconds')}`;
  const stalled = 'traffic_operator_stack_stalled';
  const ofSpec = ofLeader(stalled, `reason!="${StackReason.ForeignObject}"`);
  return {
    name: 'stacks',
    rules: [
      {
        alert: 'TrafficStackNotReady',
        expr: `(
${inState(...ROOTS)}
unless on (stack)
${notRead}
or on (stack)
max by (stack, reason) ${notRead} == 0
or on (stack)
max by (stack) ${ofLeader(ready)} == 0
)
and on (stack)
time() - ${since} > ${LATE_SECONDS}
unless on (stack)
${inState(FAILED, DEGRADED)}
unless on (stack)
${ofLeader(stalled)} == 1`,
        for: '1m',
        severity: 'warning',
        summary: 'TrafficStack {{ $labels.stack }} is not ready{{ with $labels.component }}: {{ . }} is not{{ end }}',
        description:
          'For 15 minutes, {{ if $labels.component }}the stack has not been ready. Other components may wait for {{ $labels.component }}{{ else if $labels.reason }}the operator could not read objects that the stack needs, and changed nothing{{ else }}changes of the stack have waited, for example for upgrade.query{{ end }}. Its status has the reason.',
      },
      {
        alert: 'TrafficStackComponentFailed',
        expr: inState(FAILED),
        for: '1m',
        severity: 'warning',
        summary: 'The component {{ $labels.component }} of TrafficStack {{ $labels.stack }} has failed',
        description:
          'It was not ready at its deadline, or another owner has an object of its name. Components that depend on it wait. Its status has the reason.',
      },
      {
        alert: 'TrafficStackComponentDegraded',
        expr: inState(DEGRADED),
        for: '15m',
        severity: 'warning',
        summary: 'The component {{ $labels.component }} of TrafficStack {{ $labels.stack }} is degraded',
        description:
          'It was ready. For 15 minutes, some of its pods have not been available, a condition for its readiness has not been met, or a write has failed. Its status has the reason.',
      },
      {
        alert: 'TrafficStackStalled',
        expr: `max by (stack, reason) ${ofSpec} == 1`,
        for: '5m',
        severity: 'warning',
        summary: 'TrafficStack {{ $labels.stack }} is stalled: {{ $labels.reason }}',
        description:
          'For 5 minutes, its spec, its dependencies or its components have been invalid, or no node is selected. Running components are unchanged until the spec is corrected.',
      },
    ],
  };
}
