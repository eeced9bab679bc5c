import { MAX_NODES_SHOWN } from '../src/controllers/trafficwatch/metrics.ts';
import { NONE_EXPECTED, PLAIN, READY, VERDICT } from './appearance.ts';
import { buildDashboard, type Dashboard, labelVariable, type Row } from './dashboard.ts';
import { linesPanel, statesPanel, statPanel, tablePanel } from './panels.ts';
import { errorsByReason, passAge, passesByResult } from './passes.ts';
import {
  ago,
  countOf,
  NODE_COUNT,
  ofLeader,
  orZero,
  own,
  ratioByNode,
  tooMany,
  unfit,
  unlessTooMany,
  verdicts,
} from './promql.ts';

/** Only this many nodes have the series that panels about single nodes use. */
const UP_TO = `Up to ${MAX_NODES_SHOWN} nodes, unfit nodes first.`;
const IN_NAMESPACE = 'namespace="$namespace"';
const CHOSEN = [IN_NAMESPACE, 'trafficwatch="$trafficwatch"'];
const UNFIT = unfit(...CHOSEN);
const UNFIT_COUNT = countOf('Unfit', ...CHOSEN);
const UNKNOWN_COUNT = countOf('Unknown', ...CHOSEN);
const FIT_COUNT = countOf('Fit', ...CHOSEN);
const IS_READY = `max ${ofLeader(own('traffic_operator_trafficwatch_ready', ...CHOSEN))}`;
/** Unfit one step ago. $__interval is the distance between the points of a panel, so no change is counted twice. */
const WAS_UNFIT = ago(UNFIT, '$__interval');

/** The number of nodes. No value unless every unfit or unknown node has a series, now and one step ago. */
function transitions(nodes: string): string {
  const now = unlessTooMany(orZero(`count(${nodes})`), ...CHOSEN);
  return `${now} unless on () ${ago(tooMany(...CHOSEN), '$__interval')}`;
}

const NOW: Row = {
  title: 'Current state',
  panels: [
    statPanel({
      title: 'Ready',
      description:
        'Condition Ready: the nodes are decided and the TrafficWatch is not Stalled. The other conditions are in its status.',
      queries: [{ expr: IS_READY }],
      mappings: READY,
    }),
    statPanel({
      title: 'Fit',
      description: 'Nodes whose verdict is Fit: its pods may run there.',
      queries: [{ expr: FIT_COUNT }],
      steps: [
        [null, 'red'],
        [1, 'green'],
      ],
    }),
    statPanel({
      title: 'Unfit',
      description: 'Nodes over the threshold. New pods are not scheduled there; running pods stay.',
      queries: [{ expr: UNFIT_COUNT }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Unknown',
      description: 'Nodes without a figure. Their labels do not change.',
      queries: [{ expr: UNKNOWN_COUNT }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Nodes',
      description: 'Nodes in the cluster.',
      queries: [{ expr: NODE_COUNT }],
      steps: PLAIN,
    }),
    passAge(),
  ],
};

const VERDICTS: Row = {
  title: 'Verdicts',
  panels: [
    linesPanel({
      title: 'Nodes by verdict',
      description: 'Number of fit, unfit and unknown nodes of this TrafficWatch.',
      queries: [
        { expr: FIT_COUNT, legend: 'fit' },
        { expr: UNFIT_COUNT, legend: 'unfit' },
        { expr: UNKNOWN_COUNT, legend: 'unknown' },
      ],
      stacked: true,
    }),
    tablePanel({
      title: 'Unfit nodes',
      description: `Nodes over the threshold with their bandwidth use, up to ${MAX_NODES_SHOWN}. Empty if there is none.`,
      queries: [{ expr: `max by (node) (${UNFIT})` }, { expr: `${ratioByNode()} and on (node) ${UNFIT}` }],
      by: 'node',
      columns: { node: 'Node', A: 'Verdict', B: 'Bandwidth' },
      words: { Verdict: VERDICT },
      units: { Bandwidth: 'percentunit' },
      height: 8,
    }),
    statesPanel({
      title: 'Unfit and unknown nodes over time',
      description: `Nodes that were unfit or unknown in the selected time range. Empty if all were fit. ${UP_TO}`,
      queries: [{ expr: `max by (node) (${verdicts(...CHOSEN)})`, legend: '{{node}}' }],
      mappings: VERDICT,
    }),
    linesPanel({
      title: 'Transitions',
      description: `Nodes that became unfit or stopped being unfit since the previous point. If the same node changes often, the threshold is too close to its normal traffic. No value while more than ${MAX_NODES_SHOWN} nodes are unfit or unknown.`,
      queries: [
        { expr: transitions(`${UNFIT} unless on (node) ${WAS_UNFIT}`), legend: 'became unfit' },
        { expr: transitions(`${WAS_UNFIT} unless on (node) ${UNFIT}`), legend: 'no longer unfit' },
      ],
      decimals: 0,
    }),
  ],
};

const SETTINGS: Row = {
  title: 'Settings',
  panels: [
    tablePanel({
      title: 'What the spec asks for',
      description: 'With mode Observe no node and no Deployment is written.',
      queries: [
        { expr: `max by (mode, direction, measure) (${own('traffic_operator_trafficwatch_info', ...CHOSEN)})` },
      ],
      by: 'mode',
      columns: { mode: 'Mode', direction: 'Direction', measure: 'Measure' },
      width: 12,
      height: 4,
    }),
    linesPanel({
      title: 'Source of the capacity',
      description:
        'Number of nodes with a figure, by the source of their capacity: spec.capacity (Spec), the annotation, the label of --capacity-label, or the link speeds in the series, with (ActiveSlaves) or without a bond (Series).',
      queries: [
        {
          expr: `max by (source) (${own('traffic_operator_trafficwatch_capacity_source_nodes', ...CHOSEN)})`,
          legend: '{{source}}',
        },
      ],
      decimals: 0,
      stacked: true,
    }),
    statPanel({
      title: 'Judged nodes',
      description: 'Nodes that spec.nodeSelector selects; all nodes without a selector. Other nodes have no verdict.',
      queries: [{ expr: `sum(max by (verdict) ${ofLeader(own('traffic_operator_trafficwatch_nodes', ...CHOSEN))})` }],
      steps: PLAIN,
    }),
    statPanel({
      title: 'Held by the breaker',
      description:
        'Nodes above the threshold that are not unfit, since maxUnfit or minFit allows no more. Above 0 the breaker is open. 0 without a limit.',
      queries: [{ expr: orZero(`max (${own('traffic_operator_trafficwatch_held_nodes', ...CHOSEN)})`) }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Blocked pods',
      description:
        'Pods that find no node since nodes are unfit: status.blockedPods. 0 with placement Preferred, which blocks no pod, and while pods cannot be read.',
      queries: [{ expr: orZero(`max (${own('traffic_operator_trafficwatch_blocked_pods', ...CHOSEN)})`) }],
      steps: NONE_EXPECTED,
    }),
  ],
};

const BEHIND: Row = {
  title: 'Passes and errors',
  panels: [passesByResult(), errorsByReason()],
};

/** The dashboard TrafficWatch: the verdicts of one TrafficWatch, and the passes and errors behind them. */
export function trafficwatch(): Dashboard {
  const ready = 'traffic_operator_trafficwatch_ready';
  return buildDashboard({
    name: 'trafficwatch',
    title: 'TrafficWatch',
    description: 'Verdicts of one TrafficWatch over time, and the passes that they depend on.',
    variables: [
      labelVariable('namespace', 'Namespace', own(ready), 'Namespace of the TrafficWatch.'),
      labelVariable('trafficwatch', 'TrafficWatch', own(ready, IN_NAMESPACE), 'Its name.'),
    ],
    rows: [NOW, VERDICTS, SETTINGS, BEHIND],
  });
}
