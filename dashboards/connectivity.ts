import { FINDING_CLASSES } from '../src/api/connectivitycheck/finding.ts';
import { CONNECTIVITY_VERDICTS } from '../src/api/connectivitycheck/terms.ts';
import { NONE_EXPECTED, PLAIN } from './appearance.ts';
import { AGENTS } from './connectivityAgents.ts';
import { HEAT_MAPS, LATENCIES } from './connectivityNodes.ts';
import { PROCESSES } from './connectivityProcesses.ts';
import { buildDashboard, type Dashboard, type Row } from './dashboard.ts';
import { linesPanel, statPanel } from './panels.ts';
import { ofLeader, own } from './promql.ts';

const SERVER_UP = `max ${ofLeader(own('traffic_operator_connectivity_server_up'))}`;
const FINDINGS = ofLeader(own('traffic_operator_connectivity_findings'));
const VERDICTS = ofLeader(own('traffic_operator_connectivity_verdict'));
const NOT_HEALTHY = ofLeader(own('traffic_operator_connectivity_verdict', 'verdict!="Healthy"'));
/** Of the server: see connectivityNodes.ts. */
const SILENT = 'traffic_operator_connectivity_silent_agents{}';
const REPORTING = 'traffic_operator_connectivity_reporting_agents{}';
const COVERED = 'traffic_operator_connectivity_covered_pairs{}';
const FAILED = 'traffic_operator_connectivity_failed_pairs{}';

const NOW: Row = {
  title: 'Current state',
  panels: [
    statPanel({
      title: 'Server',
      description: 'Whether the connectivity server answers the operator. No value without a ConnectivityCheck.',
      queries: [{ expr: SERVER_UP }],
      steps: [
        [null, 'red'],
        [1, 'green'],
      ],
    }),
    statPanel({
      title: 'Checks not healthy',
      description: 'ConnectivityChecks whose verdict is Degraded, Failed or Unknown.',
      queries: [{ expr: `sum ${NOT_HEALTHY}` }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Findings',
      description: 'Present faults of all ConnectivityChecks.',
      queries: [{ expr: `sum ${FINDINGS}` }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Failed pairs',
      description: 'Ordered pairs of nodes, on both planes, between which neither TCP nor UDP gets through.',
      queries: [{ expr: `sum(${FAILED})` }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Reporting agents',
      description: 'Agents with a current report, of the ConnectivityCheck with the most.',
      queries: [{ expr: `max(${REPORTING})` }],
      steps: PLAIN,
    }),
    statPanel({
      title: 'Silent agents',
      description:
        'Agents that should report and have not done so for two of their intervals. Nodes that come, go or are not Ready do not count.',
      queries: [{ expr: `sum(${SILENT})` }],
      steps: NONE_EXPECTED,
    }),
  ],
};

const HISTORY: Row = {
  title: 'Over time',
  panels: [
    linesPanel({
      title: 'Findings by class',
      description: `Present faults of each class: ${FINDING_CLASSES.join(', ')}.`,
      queries: [{ expr: `sum by (class) ${FINDINGS}`, legend: '{{class}}' }],
      stacked: true,
    }),
    linesPanel({
      title: 'Checks by verdict',
      description: `Number of ConnectivityChecks with each verdict: ${CONNECTIVITY_VERDICTS.join(', ')}.`,
      queries: [{ expr: `sum by (verdict) ${VERDICTS}`, legend: '{{verdict}}' }],
      stacked: true,
    }),
    linesPanel({
      title: 'Pairs of nodes',
      description:
        'Ordered pairs of nodes in the last reports, by plane: all, and those that failed. Large clusters cover all pairs in a day.',
      queries: [
        { expr: `sum by (plane) (${COVERED})`, legend: '{{plane}}: covered' },
        { expr: `sum by (plane) (${FAILED})`, legend: '{{plane}}: failed' },
      ],
    }),
    linesPanel({
      title: 'Agents',
      description: 'Agents with a current report by ConnectivityCheck, and silent agents by plane.',
      queries: [
        { expr: `max by (check) (${REPORTING})`, legend: '{{check}}: reporting' },
        { expr: `sum by (plane) (${SILENT})`, legend: '{{plane}}: silent' },
      ],
    }),
    linesPanel({
      title: 'Duration of an evaluation',
      description: 'Time that the server needs to evaluate all ConnectivityChecks.',
      queries: [{ expr: 'max(traffic_operator_connectivity_evaluation_duration_seconds{})', legend: 'evaluation' }],
      unit: 's',
    }),
  ],
};

/** The dashboard about the network between the nodes, for ConnectivityChecks. */
export function connectivity(): Dashboard {
  return buildDashboard({
    name: 'connectivity',
    title: 'Connectivity',
    description:
      'The network between the nodes: verdicts and findings of the ConnectivityChecks, a heat map of the nodes, latency, and the agents.',
    variables: [],
    rows: [NOW, HEAT_MAPS, LATENCIES, HISTORY, AGENTS, PROCESSES],
  });
}
