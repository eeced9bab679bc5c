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
/** Maximum number of lines in a panel; more cannot be distinguished. */
const MOST = 20;
/** Only this many nodes have the series that panels about single nodes use. */
const UP_TO = `Up to ${MAX_NODES_SHOWN} nodes for each TrafficWatch, unfit nodes first.`;

const NOT_COUNTED = `No value while a TrafficWatch has more than ${MAX_NODES_SHOWN} unfit and unknown nodes; the dashboard TrafficWatch counts them.`;

const NOW: Row = {
  title: 'Current state',
  panels: [
    statPanel({
      title: 'Nodes',
      description: 'Nodes in the cluster. Independent of the variables above.',
      queries: [{ expr: NODE_COUNT }],
      steps: PLAIN,
    }),
    statPanel({
      title: 'Measured',
      description: 'Selected nodes with a figure in the last pass. The other nodes are unknown.',
      queries: [{ expr: orZero(`count(${RATIOS})`) }],
      steps: PLAIN,
    }),
    statPanel({
      title: 'Unfit',
      description: `Selected nodes that are unfit for at least one TrafficWatch: its new pods are not scheduled there. ${NOT_COUNTED}`,
      queries: [{ expr: unlessTooMany(orZero(`count(count by (node) (${unfit(CHOSEN)}))`)) }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Unknown',
      description: `Selected nodes without a figure for at least one TrafficWatch: their labels do not change. ${NOT_COUNTED}`,
      queries: [{ expr: unlessTooMany(orZero(`count(count by (node) (${unknown(CHOSEN)}))`)) }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Highest use',
      description: 'Highest bandwidth use among the selected nodes: transmit rate divided by capacity.',
      queries: [{ expr: `max(${RATIOS})` }],
      unit: 'percentunit',
      decimals: 1,
      steps: RATIO_STEPS,
    }),
    statPanel({
      title: 'Capacity',
      description:
        'Sum of the link speeds of the selected nodes, as reported by node-exporter. Capacity annotations of nodes are not included.',
      queries: [{ expr: `sum(${CAPACITY})` }],
      unit: 'Bps',
      steps: PLAIN,
    }),
  ],
};

const BANDWIDTH: Row = {
  title: 'Bandwidth use',
  panels: [
    linesPanel({
      title: 'Bandwidth use by node',
      description: `Transmit rate divided by capacity, as the operator computes it. Shows the ${MOST} selected nodes with the highest use at each time.`,
      queries: [{ expr: `topk(${MOST}, ${RATIOS})`, legend: '{{node}}' }],
      unit: 'percentunit',
      link: TO_NODE,
      width: 16,
      height: 9,
    }),
    barsPanel({
      title: 'Nodes with the highest use',
      description: 'The ten selected nodes with the highest use now.',
      queries: [{ expr: `sort_desc(topk(10, ${RATIOS}))`, legend: '{{node}}' }],
      unit: 'percentunit',
      decimals: 1,
      steps: RATIO_STEPS,
      link: TO_NODE,
    }),
    linesPanel({
      title: 'Distribution over nodes',
      description: 'Maximum, 90th percentile and median of the bandwidth use of the selected nodes.',
      queries: [
        { expr: `max(${RATIOS})`, legend: 'maximum' },
        { expr: `quantile(0.9, ${RATIOS})`, legend: '90th percentile' },
        { expr: `quantile(0.5, ${RATIOS})`, legend: 'median' },
      ],
      unit: 'percentunit',
    }),
    linesPanel({
      title: 'Source of the capacity',
      description:
        'Number of nodes with a figure, by the source of their capacity: the annotation, the label of --capacity-label, or the link speeds in the series, with (ActiveSlaves) or without a bond (Series). spec.capacity is in the dashboard TrafficWatch. Independent of the variables above.',
      queries: [{ expr: `max by (source) (${own('traffic_operator_capacity_source_nodes')})`, legend: '{{source}}' }],
      decimals: 0,
      stacked: true,
    }),
    linesPanel({
      title: 'Transmit rate by node',
      description: `Bytes per second, from the counters of node-exporter. Shows the ${MOST} selected nodes with the highest rate at each time.`,
      queries: [{ expr: `topk(${MOST}, ${TRANSMITTED})`, legend: '{{node}}' }],
      unit: 'Bps',
      link: TO_NODE,
    }),
  ],
};

const EACH_NODE: Row = {
  title: 'Single nodes',
  panels: [
    tablePanel({
      title: 'Selected nodes',
      description: `Current state of the selected nodes. Bandwidth use is empty if the operator has no figure. Transmit rate and Capacity come from node-exporter; Capacity is empty if it reports no speed. Unfit for: number of TrafficWatches; each contributes up to ${MAX_NODES_SHOWN} nodes. Not measurable: 1 if the node cannot be measured, for example because it is powered off; 0 if it has a figure.`,
      queries: [
        { expr: RATIOS },
        { expr: TRANSMITTED },
        { expr: CAPACITY },
        { expr: `count by (node) (${unfit(CHOSEN)})` },
        { expr: `max by (node) (${own('traffic_operator_node_not_measurable', CHOSEN)}) or 0 * ${RATIOS}` },
      ],
      by: 'node',
      columns: {
        node: 'Node',
        A: 'Bandwidth use',
        B: 'Transmit rate',
        C: 'Capacity',
        D: 'Unfit for',
        E: 'Not measurable',
      },
      units: { 'Bandwidth use': 'percentunit', 'Transmit rate': 'Bps', Capacity: 'Bps' },
      width: 14,
    }),
    tablePanel({
      title: 'Unfit and unknown nodes',
      description: `Selected nodes that are unfit or unknown, with the TrafficWatch. Empty if all are fit. ${UP_TO}`,
      queries: [{ expr: verdicts(CHOSEN) }],
      by: 'node',
      columns: { node: 'Node', namespace: 'namespace', trafficwatch: 'trafficwatch', A: 'Verdict' },
      words: { Verdict: VERDICT },
      link: TO_TRAFFICWATCH,
      width: 10,
    }),
  ],
};

/** The dashboard Nodes: bandwidth use of each node, and the nodes over a threshold. */
export function nodes(): Dashboard {
  const bandwidth = own('traffic_operator_node_bandwidth_ratio');
  const node = severalOrAll(labelVariable('node', 'Node', bandwidth, 'Nodes to show.'));
  return buildDashboard({
    name: 'nodes',
    title: 'Nodes',
    description: 'Bandwidth use of every node, and the nodes over the threshold of a TrafficWatch.',
    // All nodes includes nodes that never had a figure.
    variables: [node.allValue('.*')],
    rows: [NOW, BANDWIDTH, EACH_NODE],
  });
}
