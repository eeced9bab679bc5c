import { MAX_NODES_SHOWN } from '../src/controllers/trafficwatch/metrics.ts';
import { NONE_EXPECTED, PLAIN, RATIO_STEPS, TO_NODE, TO_TRAFFICWATCH, VERDICT } from './appearance.ts';
import { buildDashboard, type Dashboard, labelVariable, severalOrAll, type Row } from './dashboard.ts';
import { barsPanel, linesPanel, statPanel, tablePanel } from './panels.ts';
import {
  CAPACITY,
  NODE_COUNT,
  orZero,
  own,
  ratioByNode,
  TRANSMITTED,
  unfit,
  unknown,
  verdicts,
  unlessTooMany,
} from './promql.ts';

const CHOSEN = 'node=~"$node"';
const RATIOS = ratioByNode(CHOSEN);
/** Lines in one panel: more can be told from one another no longer. */
const MOST = 20;
/** What is told of single nodes rests on series that only so many have. */
const UP_TO = `Up to ${MAX_NODES_SHOWN} nodes for each TrafficWatch, unfit ones first.`;

const NOT_COUNTED = `Nothing while a TrafficWatch has more than ${MAX_NODES_SHOWN} that are not fit: its own dashboard counts them.`;

const NOW: Row = {
  title: 'Now',
  panels: [
    statPanel({
      title: 'Nodes',
      description: 'Nodes of the cluster, as the operator sees them, whatever is chosen above.',
      queries: [{ expr: NODE_COUNT }],
      steps: PLAIN,
    }),
    statPanel({
      title: 'Measured',
      description: 'Chosen nodes that the last pass had a figure for. Those that are missing are unknown.',
      queries: [{ expr: orZero(`count(${RATIOS})`) }],
      steps: PLAIN,
    }),
    statPanel({
      title: 'Unfit',
      description: `Chosen nodes that at least one TrafficWatch finds unfit: no new pods of it are put there. ${NOT_COUNTED}`,
      queries: [{ expr: unlessTooMany(orZero(`count(count by (node) (${unfit(CHOSEN)}))`)) }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Unknown',
      description: `Chosen nodes that a TrafficWatch has no figures for: their labels stay as they were. ${NOT_COUNTED}`,
      queries: [{ expr: unlessTooMany(orZero(`count(count by (node) (${unknown(CHOSEN)}))`)) }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Hottest',
      description: 'The share of its capacity that the fullest of the chosen nodes sends.',
      queries: [{ expr: `max(${RATIOS})` }],
      unit: 'percentunit',
      decimals: 1,
      steps: RATIO_STEPS,
    }),
    statPanel({
      title: 'Capacity',
      description:
        'What the links of the chosen nodes could send together, by the speeds that node-exporter tells; annotations of the nodes are not in it.',
      queries: [{ expr: `sum(${CAPACITY})` }],
      unit: 'Bps',
      steps: PLAIN,
    }),
  ],
};

const BANDWIDTH: Row = {
  title: 'Bandwidth',
  panels: [
    linesPanel({
      title: 'Bandwidth per node',
      description: `Share of its capacity that each of the chosen nodes sends, as the operator judges it: the ${MOST} fullest at each moment.`,
      queries: [{ expr: `topk(${MOST}, ${RATIOS})`, legend: '{{node}}' }],
      unit: 'percentunit',
      link: TO_NODE,
      width: 16,
      height: 9,
    }),
    barsPanel({
      title: 'Hottest nodes',
      description: 'The ten of the chosen nodes that are fullest now.',
      queries: [{ expr: `sort_desc(topk(10, ${RATIOS}))`, legend: '{{node}}' }],
      unit: 'percentunit',
      decimals: 1,
      steps: RATIO_STEPS,
      link: TO_NODE,
    }),
    linesPanel({
      title: 'Spread over the nodes',
      description: 'How full the fullest, the ninetieth of a hundred and the middle one of the chosen nodes are.',
      queries: [
        { expr: `max(${RATIOS})`, legend: 'fullest' },
        { expr: `quantile(0.9, ${RATIOS})`, legend: '90 %' },
        { expr: `quantile(0.5, ${RATIOS})`, legend: 'median' },
      ],
      unit: 'percentunit',
    }),
    linesPanel({
      title: 'Transmitted per node',
      description: `Bytes per second that each of the chosen nodes sends, by node-exporter's counters: the ${MOST} busiest at each moment.`,
      queries: [{ expr: `topk(${MOST}, ${TRANSMITTED})`, legend: '{{node}}' }],
      unit: 'Bps',
      link: TO_NODE,
    }),
  ],
};

const EACH_NODE: Row = {
  title: 'Each node',
  panels: [
    tablePanel({
      title: 'Chosen nodes',
      description: `The chosen nodes as they are now. No bandwidth: the operator has no figure. Not measurable: 1 where there can be none, as of one that is switched off; 0 where there is a figure. No capacity: node-exporter tells no speed. Unfit for so many TrafficWatches, each of which names up to ${MAX_NODES_SHOWN}.`,
      queries: [
        { expr: RATIOS },
        { expr: TRANSMITTED },
        { expr: CAPACITY },
        { expr: `count by (node) (${unfit(CHOSEN)})` },
        { expr: `max by (node) (${own('traffic_operator_node_not_measurable', CHOSEN)}) or 0 * ${RATIOS}` },
      ],
      by: 'node',
      columns: { node: 'Node', A: 'Bandwidth', B: 'Transmitted', C: 'Capacity', D: 'Unfit for', E: 'Not measurable' },
      units: { Bandwidth: 'percentunit', Transmitted: 'Bps', Capacity: 'Bps' },
      width: 14,
    }),
    tablePanel({
      title: 'Unfit and unknown',
      description: `Which TrafficWatch finds which of the chosen nodes unfit, or knows nothing of it. Empty when all are fit. ${UP_TO}`,
      queries: [{ expr: verdicts(CHOSEN) }],
      by: 'node',
      columns: { node: 'Node', namespace: 'namespace', trafficwatch: 'trafficwatch', A: 'Verdict' },
      words: { Verdict: VERDICT },
      link: TO_TRAFFICWATCH,
      width: 10,
    }),
  ],
};

/** How full the nodes are, and which of them are too full for somebody. */
export function nodes(): Dashboard {
  const bandwidth = own('traffic_operator_node_bandwidth_ratio');
  const node = severalOrAll(labelVariable('node', 'Node', bandwidth, 'Nodes to look at.'));
  return buildDashboard({
    name: 'nodes',
    title: 'Nodes',
    description: 'How full the network of every node is, and which nodes are too full for a TrafficWatch.',
    // A node that never had a figure is among all nodes, too.
    variables: [node.allValue('.*')],
    rows: [NOW, BANDWIDTH, EACH_NODE],
  });
}
