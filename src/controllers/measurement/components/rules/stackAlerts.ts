import { StackReason } from '../../../../api/trafficstack/reasons.ts';
import type { ComponentState } from '../../../../api/trafficstack/terms.ts';
import type { RuleGroup } from './rule.ts';

/** Two states with an alert of their own. */
const FAILED: ComponentState = 'Failed';
const DEGRADED: ComponentState = 'Degraded';
/** States in which nothing of the stack is waited for: others may wait for such a component. */
const ROOTS = ['Progressing', 'Unknown', 'Removing'] as const satisfies ComponentState[];
/** Seconds until a stack that is not ready is an alert. */
const LATE_SECONDS = 900;

/**
 * The alerts about stacks, silent without TrafficStacks. A fault is one alert, the one that says most: a component that is
 * Failed or Degraded, also if an object of its name is somebody else's; then a stack whose spec is no good; then one that is
 * not ready for anything else.
 *
 * TrafficStackNotReady names the component that the others wait for. That is another one from step to step, and each would
 * begin the time of a `for` anew. So the time is that of the status, which also survives a restart. What cannot be read has no
 * such component, and is told by its reason. Without both, changes wait, for example for `upgrade.query`: all components
 * that are not ready are Waiting.
 *
 * @param ofLeader the series of a metric that the leader has
 */
export function stackAlerts(ofLeader: (metric: string, matchers?: string) => string): RuleGroup {
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
          'For 15 minutes, {{ if $labels.component }}the stack has not been ready. Other components may wait for {{ $labels.component }}{{ else if $labels.reason }}what the stack is made of could not be read, and nothing is changed{{ else }}changes of the stack have waited, for example for upgrade.query{{ end }}. Its status has the reason.',
      },
      {
        alert: 'TrafficStackComponentFailed',
        expr: inState(FAILED),
        for: '1m',
        severity: 'warning',
        summary: 'The component {{ $labels.component }} of TrafficStack {{ $labels.stack }} has failed',
        description:
          'It was not ready at its deadline, or an object of its name belongs to somebody else. What depends on it waits. Its status has the reason.',
      },
      {
        alert: 'TrafficStackComponentDegraded',
        expr: inState(DEGRADED),
        for: '15m',
        severity: 'warning',
        summary: 'The component {{ $labels.component }} of TrafficStack {{ $labels.stack }} is degraded',
        description:
          'It was ready, and for 15 minutes pods of it have not been available, what must be true has not been, or a write has failed. Its status has the reason.',
      },
      {
        alert: 'TrafficStackStalled',
        expr: `max by (stack, reason) ${ofSpec} == 1`,
        for: '5m',
        severity: 'warning',
        summary: 'Nothing is done for TrafficStack {{ $labels.stack }}: {{ $labels.reason }}',
        description:
          'For 5 minutes, its spec, its dependencies or its components have been invalid, or no node is selected. What runs goes on, and nothing is changed until the spec is corrected.',
      },
    ],
  };
}
