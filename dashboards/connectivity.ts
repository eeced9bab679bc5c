import { FINDING_CLASSES } from '../src/api/connectivitycheck/finding.ts';
import { CONNECTIVITY_VERDICTS } from '../src/api/connectivitycheck/terms.ts';
import { NONE_EXPECTED } from './appearance.ts';
import { AGENTS } from './connectivityAgents.ts';
import { buildDashboard, type Dashboard, type Row } from './dashboard.ts';
import { linesPanel, statPanel } from './panels.ts';
import { ofLeader, own } from './promql.ts';

const SERVER_UP = `max ${ofLeader(own('traffic_operator_connectivity_server_up'))}`;
const FINDINGS = ofLeader(own('traffic_operator_connectivity_findings'));
const VERDICTS = ofLeader(own('traffic_operator_connectivity_verdict'));

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
      title: 'Findings',
      description: 'Present faults of all ConnectivityChecks.',
      queries: [{ expr: `sum ${FINDINGS}` }],
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
  ],
};

/** The dashboard about the network between the nodes, for ConnectivityChecks. */
export function connectivity(): Dashboard {
  return buildDashboard({
    name: 'connectivity',
    title: 'Connectivity',
    description: 'Verdicts and findings of the ConnectivityChecks, and whether the connectivity server answers.',
    variables: [],
    rows: [NOW, HISTORY, AGENTS],
  });
}
