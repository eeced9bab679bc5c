import { COMPONENT_STATES } from '../src/api/trafficstack/terms.ts';
import { COMPONENT_STATE, NONE_EXPECTED, PLAIN, READY } from './appearance.ts';
import { buildDashboard, labelVariable, type Dashboard, type Row } from './dashboard.ts';
import { barsPanel, linesPanel, statPanel, tablePanel } from './panels.ts';
import { ofLeader, orZero, own } from './promql.ts';

const CHOSEN = 'stack="$stack"';
const IS_READY = 'traffic_operator_stack_ready';
const STALLED = 'traffic_operator_stack_stalled';
const STATE = 'traffic_operator_stack_component_state';
const AT_FAULT = 'state=~"Degraded|Failed"';
const READY_SINCE = ofLeader(own('traffic_operator_stack_ready_since_timestamp_seconds', CHOSEN));
const SINCE = ofLeader(own('traffic_operator_stack_component_since_timestamp_seconds', CHOSEN));
const WAITING_ON = ofLeader(own('traffic_operator_stack_component_waiting_on', CHOSEN));
const DESIRED = ofLeader(own('traffic_operator_stack_component_pods_desired', CHOSEN));
const AVAILABLE = ofLeader(own('traffic_operator_stack_component_pods_available', CHOSEN));

const ALL: Row = {
  title: 'All stacks',
  panels: [
    statPanel({
      title: 'Stacks not ready',
      description: 'TrafficStacks with a component that is not ready, or of which nothing can be decided.',
      queries: [{ expr: `sum (1 - ${ofLeader(own(IS_READY))})` }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Stacks stalled',
      description:
        'TrafficStacks that only people can help: the spec is invalid, or an object belongs to somebody else.',
      queries: [{ expr: `sum ${ofLeader(own(STALLED))}` }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Components degraded or failed',
      description:
        'Components of all TrafficStacks that were ready and are not, or that were not ready at their deadline.',
      queries: [{ expr: `sum ${ofLeader(own(STATE, AT_FAULT))}` }],
      steps: NONE_EXPECTED,
    }),
  ],
};

const NOW: Row = {
  title: 'Current state',
  panels: [
    tablePanel({
      title: 'Ready',
      description: 'The condition Ready of the stack and its reason. The message is in its status.',
      queries: [{ expr: `max by (reason) ${ofLeader(own(IS_READY, CHOSEN))}` }],
      by: 'reason',
      columns: { A: 'State', reason: 'Reason' },
      words: { State: READY },
      width: 8,
      height: 4,
    }),
    statPanel({
      title: 'For',
      description: 'How long the stack has been ready, or not ready.',
      queries: [{ expr: `time() - max ${READY_SINCE}` }],
      unit: 's',
      steps: PLAIN,
    }),
    statPanel({
      title: 'Components',
      description: 'Components of the stack, those that are being removed included.',
      queries: [{ expr: `count(max by (component) ${SINCE})` }],
      steps: PLAIN,
    }),
    statPanel({
      title: 'Components not ready',
      description: 'Components in another state than Ready.',
      queries: [{ expr: `sum ${ofLeader(own(STATE, CHOSEN, 'state!="Ready"'))}` }],
      steps: NONE_EXPECTED,
    }),
  ],
};

const COMPONENTS: Row = {
  title: 'Components',
  panels: [
    tablePanel({
      title: 'Components by state and time',
      description:
        'The state of each component, for how long, its pods, and the component at the root of the chain that it waits for. Why is in the status.',
      queries: [
        { expr: `max by (component, state) ${ofLeader(own(STATE, CHOSEN))} == 1` },
        { expr: `time() - max by (component) ${SINCE}` },
        { expr: `max by (component) ${AVAILABLE}` },
        { expr: `max by (component) ${DESIRED}` },
        { expr: `max by (component, root) ${WAITING_ON}` },
      ],
      by: 'component',
      columns: { component: 'Component', state: 'State', B: 'For', C: 'Available', D: 'Desired', root: 'Waits for' },
      words: { State: COMPONENT_STATE },
      units: { For: 's' },
      width: 24,
      height: 10,
    }),
  ],
};

const WAITING: Row = {
  title: 'Waiting',
  panels: [
    barsPanel({
      title: 'What others wait for',
      description:
        'Components at the root of a chain, and how many wait for each. Begin there. Empty while no component waits.',
      queries: [{ expr: `count by (root) (max by (component, root) ${WAITING_ON})`, legend: '{{root}}' }],
      steps: NONE_EXPECTED,
      width: 12,
      height: 8,
    }),
    linesPanel({
      title: 'Waiting components',
      description: 'Components that wait, by the component at the root of the chain.',
      queries: [{ expr: `count by (root) (max by (component, root) ${WAITING_ON})`, legend: 'for {{root}}' }],
      stacked: true,
      decimals: 0,
    }),
  ],
};

const HISTORY: Row = {
  title: 'Over time',
  panels: [
    linesPanel({
      title: 'Components by state',
      description: `Number of components in each state: ${COMPONENT_STATES.join(', ')}.`,
      queries: [
        { expr: `sum by (state) (max by (component, state) ${ofLeader(own(STATE, CHOSEN))})`, legend: '{{state}}' },
      ],
      stacked: true,
      decimals: 0,
    }),
    linesPanel({
      title: 'Pods',
      description: 'Pods that the components of the stack should have, and those that are available.',
      queries: [
        { expr: `sum(max by (component) ${DESIRED})`, legend: 'desired' },
        { expr: `sum(max by (component) ${AVAILABLE})`, legend: 'available' },
      ],
      decimals: 0,
    }),
    linesPanel({
      title: 'Missing pods by component',
      description: 'Pods that a component should have and that are not available.',
      queries: [{ expr: `max by (component) ${DESIRED} - max by (component) ${AVAILABLE}`, legend: '{{component}}' }],
      decimals: 0,
    }),
    linesPanel({
      title: 'Stacks not ready over time',
      description: 'All TrafficStacks that are not ready, by the reason of the condition.',
      queries: [{ expr: orZero(`count by (reason) (${ofLeader(own(IS_READY))} == 0)`), legend: '{{reason}}' }],
      stacked: true,
      decimals: 0,
    }),
  ],
};

/** The dashboard about TrafficStacks: one stack, its components, and what they wait for. */
export function stacks(): Dashboard {
  return buildDashboard({
    name: 'stacks',
    title: 'Stacks',
    description: 'The components of a stack: their states, since when, their pods, and what they wait for.',
    variables: [labelVariable('stack', 'Stack', own(IS_READY), 'Name of the TrafficStack.')],
    rows: [ALL, NOW, COMPONENTS, WAITING, HISTORY],
  });
}
