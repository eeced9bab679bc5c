import { PLANES, type Plane } from '../src/api/connectivitycheck/terms.ts';
import { LOSS_STEPS, PLAIN, TO_NODE } from './appearance.ts';
import type { Row } from './dashboard.ts';
import { barsPanel, heatMapPanel, linesPanel, tablePanel } from './panels.ts';

/**
 * Panels about single nodes. The server has these series, not the operator: its scrape job has another name, so the variable
 * `job` does not apply. All panels show the worst nodes only, since a cluster may have thousands.
 */
const loss = (plane: Plane): string => `traffic_operator_connectivity_loss_ratio{plane="${plane}"}`;
const latency = (plane: Plane): string => `traffic_operator_connectivity_latency_seconds{plane="${plane}"}`;
/** Of both planes. */
const LATENCY = 'traffic_operator_connectivity_latency_seconds{}';

/** Rows of a heat map: more are too low to be read. */
const MOST_ROWS = 40;
/** Nodes in other panels. */
const MOST = 20;

const NETWORK: Readonly<Record<Plane, string>> = { Pod: 'Pod network', Host: 'Host network' };

/**
 * The loss of the nodes that lost most within the time range. `@ end()` makes the choice the same at each point: a plain
 * topk chooses anew at each, so that a heat map of 5,000 nodes had far more than MOST_ROWS rows. A cell shows the worst
 * of its time, since a short fault may lie between two points.
 */
function lossOfWorst(plane: Plane): string {
  const within = (range: string): string => `max by (node) (max_over_time(${loss(plane)}${range}))`;
  return `${within('[$__rate_interval]')} and on (node) topk(${MOST_ROWS}, ${within('[$__range] @ end()')})`;
}

/** One heat map for each plane. */
export const HEAT_MAPS: Row = {
  title: 'Heat map of the nodes: loss',
  panels: PLANES.map((plane) =>
    heatMapPanel({
      title: `${NETWORK[plane]}: loss by node`,
      description: `Share of lost datagrams from and to each node, for the ${MOST_ROWS} nodes that lost most within the time range. Green rows are healthy nodes. One red row is a node; red cells in all rows at once are a fault between nodes.`,
      queries: [{ expr: lossOfWorst(plane), legend: '{{node}}' }],
      unit: 'percentunit',
      steps: LOSS_STEPS,
      link: TO_NODE,
      height: 14,
    }),
  ),
};

const quantile = (q: number): string => `quantile by (plane) (${q}, ${LATENCY})`;

export const LATENCIES: Row = {
  title: 'Latency',
  panels: [
    linesPanel({
      title: 'Latency by plane',
      description:
        'Median round trip of each node, as quantiles over the nodes: half of the nodes, 99 % of them, and the slowest.',
      queries: [
        { expr: quantile(0.5), legend: '{{plane}}: half of the nodes' },
        { expr: quantile(0.99), legend: '{{plane}}: 99 % of the nodes' },
        { expr: quantile(1), legend: '{{plane}}: slowest node' },
      ],
      unit: 's',
    }),
    barsPanel({
      title: 'Slowest nodes',
      description: `Median round trip from and to the node now, for up to ${MOST} nodes and planes.`,
      queries: [{ expr: `topk(${MOST}, max by (node, plane) (${LATENCY}))`, legend: '{{node}} {{plane}}' }],
      unit: 's',
      steps: PLAIN,
      width: 12,
      height: 8,
    }),
    tablePanel({
      title: 'Nodes with the most loss',
      description: `Loss and latency now of up to ${MOST} nodes for each column. A node without a value is not among the worst of that column.`,
      queries: PLANES.flatMap((plane) => [
        { expr: `topk(${MOST}, max by (node) (${loss(plane)}))` },
        { expr: `topk(${MOST}, max by (node) (${latency(plane)}))` },
      ]),
      by: 'node',
      columns: {
        node: 'Node',
        A: 'Loss, pod network',
        B: 'Latency, pod network',
        C: 'Loss, host network',
        D: 'Latency, host network',
      },
      unit: 'percentunit',
      units: { 'Latency, pod network': 's', 'Latency, host network': 's' },
      width: 24,
    }),
  ],
};
