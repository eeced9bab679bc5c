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

/** What is shown of single nodes rests on series that only so many have. */
const UP_TO = `Up to ${MAX_NODES_SHOWN} nodes, unfit ones first.`;
const IN_NAMESPACE = 'namespace="$namespace"';
const CHOSEN = [IN_NAMESPACE, 'trafficwatch="$trafficwatch"'];
const UNFIT = unfit(...CHOSEN);
const UNFIT_COUNT = countOf('Unfit', ...CHOSEN);
const UNKNOWN_COUNT = countOf('Unknown', ...CHOSEN);
const FIT_COUNT = countOf('Fit', ...CHOSEN);
const IS_READY = `max ${ofLeader(own('traffic_operator_trafficwatch_ready', ...CHOSEN))}`;
/** Unfit a step ago: $__interval is the distance of a panel's points, so that no change is counted twice. */
const WAS_UNFIT = ago(UNFIT, '$__interval');

/** How many; counted only where each node that is not fit has a series, now and then. */
function transitions(nodes: string): string {
  const now = unlessTooMany(orZero(`count(${nodes})`), ...CHOSEN);
  return `${now} unless on () ${ago(tooMany(...CHOSEN), '$__interval')}`;
}

const NOW: Row = {
  title: 'Now',
  panels: [
    statPanel({
      title: 'Condition',
      description:
        'Whether its nodes have been decided and it is not stalled: its condition Ready. The others are in its status.',
      queries: [{ expr: IS_READY }],
      mappings: READY,
    }),
    statPanel({
      title: 'Fit',
      description: 'Nodes that its pods may be put on.',
      queries: [{ expr: FIT_COUNT }],
      steps: [
        [null, 'red'],
        [1, 'green'],
      ],
    }),
    statPanel({
      title: 'Unfit',
      description: 'Nodes over its threshold: none of its new pods are put there, those that run there stay.',
      queries: [{ expr: UNFIT_COUNT }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Unknown',
      description: 'Nodes without a figure: their labels stay as they were.',
      queries: [{ expr: UNKNOWN_COUNT }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Nodes',
      description: 'Nodes of the cluster.',
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
      title: 'Fit, unfit and unknown',
      description: 'How many nodes were what for this TrafficWatch.',
      queries: [
        { expr: FIT_COUNT, legend: 'fit' },
        { expr: UNFIT_COUNT, legend: 'unfit' },
        { expr: UNKNOWN_COUNT, legend: 'unknown' },
      ],
      stacked: true,
    }),
    tablePanel({
      title: 'Unfit now',
      description: `The nodes over its threshold, and how full they are: up to ${MAX_NODES_SHOWN}. Empty when there is none.`,
      queries: [{ expr: `max by (node) (${UNFIT})` }, { expr: `${ratioByNode()} and on (node) ${UNFIT}` }],
      by: 'node',
      columns: { node: 'Node', A: 'Verdict', B: 'Bandwidth' },
      words: { Verdict: VERDICT },
      units: { Bandwidth: 'percentunit' },
      height: 8,
    }),
    statesPanel({
      title: 'Nodes that were not fit',
      description: `Each node that was unfit or unknown in this time, and when. Empty when all were fit. ${UP_TO}`,
      queries: [{ expr: `max by (node) (${verdicts(...CHOSEN)})`, legend: '{{node}}' }],
      mappings: VERDICT,
    }),
    linesPanel({
      title: 'Transitions',
      description: `Nodes that became unfit, and nodes that no longer were, from one point to the next. A node that goes to and fro hints at a threshold too close to its normal traffic. Nothing while more than ${MAX_NODES_SHOWN} are not fit.`,
      queries: [
        { expr: transitions(`${UNFIT} unless on (node) ${WAS_UNFIT}`), legend: 'became unfit' },
        { expr: transitions(`${WAS_UNFIT} unless on (node) ${UNFIT}`), legend: 'no longer unfit' },
      ],
      decimals: 0,
    }),
  ],
};

const BEHIND: Row = {
  title: 'What it rests on',
  panels: [passesByResult(), errorsByReason()],
};

/** One TrafficWatch: its verdicts, and what may keep it from having any. */
export function trafficwatch(): Dashboard {
  const ready = 'traffic_operator_trafficwatch_ready';
  return buildDashboard({
    name: 'trafficwatch',
    title: 'TrafficWatch',
    description: 'Which nodes are fit for one TrafficWatch, how that changed, and what its verdicts rest on.',
    variables: [
      labelVariable('namespace', 'Namespace', own(ready), 'Namespace of the TrafficWatch.'),
      labelVariable('trafficwatch', 'TrafficWatch', own(ready, IN_NAMESPACE), 'Its name.'),
    ],
    rows: [NOW, VERDICTS, BEHIND],
  });
}
