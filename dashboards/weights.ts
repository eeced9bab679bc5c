import { HOST_REASONS, REFUSED_REASONS } from '../src/api/trafficweight/terms.ts';
import { NONE_EXPECTED, PLAIN } from './appearance.ts';
import { buildDashboard, type Dashboard, type Row } from './dashboard.ts';
import { linesPanel, statPanel, tablePanel } from './panels.ts';
import { ofLeader, orZero, own } from './promql.ts';

const DESIRED = ofLeader(own('cluster_traffic_controller_ingress_weight_desired'));
const CURRENT = ofLeader(own('cluster_traffic_controller_ingress_weight_current'));
const STEP = ofLeader(own('traffic_operator_trafficweight_step_weight'));
/** Rows of the table. */
const MOST_HOSTS = 100;
const HOST_DESIRED = ofLeader(own('traffic_operator_trafficweight_host_weight_desired'));
const HOST_CURRENT = ofLeader(own('traffic_operator_trafficweight_host_weight_current'));
const HOSTS = 'traffic_operator_trafficweight_hosts';
const UNCONFIRMED = ofLeader(own('traffic_operator_trafficweight_unconfirmed_hosts'));
const READY = ofLeader(own('traffic_operator_trafficweight_ready'));
const REFUSED = `reason=~"${REFUSED_REASONS.join('|')}"`;

const NOW: Row = {
  title: 'Current state',
  panels: [
    statPanel({
      title: 'Not ready',
      description: 'TrafficWeights whose weight is not in force, or not acknowledged.',
      queries: [{ expr: `sum (1 - ${READY})` }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Hosts',
      description: 'Hosts of all TrafficWeights.',
      queries: [{ expr: `sum ${ofLeader(own(HOSTS))}` }],
      steps: PLAIN,
    }),
    statPanel({
      title: 'Hosts without ready endpoints',
      description: 'Hosts whose weight is 0 since one of their Services has no ready endpoint.',
      queries: [{ expr: `sum ${ofLeader(own(HOSTS, 'reason="NoReadyEndpoints"'))}` }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Hosts not accepted',
      description: 'Hosts with an invalid annotation, another Ingress, or a DNSEndpoint of somebody else in the way.',
      queries: [{ expr: `sum ${ofLeader(own(HOSTS, REFUSED))}` }],
      steps: NONE_EXPECTED,
    }),
    statPanel({
      title: 'Hosts to confirm',
      description: 'Hosts that would lose their records, and keep them until that is confirmed.',
      queries: [{ expr: orZero(`sum ${UNCONFIRMED}`) }],
      steps: NONE_EXPECTED,
    }),
  ],
};

const HISTORY: Row = {
  title: 'Over time',
  panels: [
    linesPanel({
      title: 'Weight of the cluster',
      description:
        'The weight that is asked for, that of the step of a ramp with its phase, and the last one that was in force, by TrafficWeight.',
      queries: [
        { expr: `max by (trafficweight) ${DESIRED}`, legend: '{{trafficweight}}: desired' },
        { expr: `max by (trafficweight, phase) ${STEP}`, legend: '{{trafficweight}}: step ({{phase}})' },
        { expr: `max by (trafficweight) ${CURRENT}`, legend: '{{trafficweight}}: current' },
      ],
    }),
    linesPanel({
      title: 'Hosts by reason',
      description: `What decided the weight of each host: ${HOST_REASONS.join(', ')}.`,
      queries: [{ expr: `sum by (reason) ${ofLeader(own(HOSTS))}`, legend: '{{reason}}' }],
      stacked: true,
    }),
    tablePanel({
      title: 'Weights of hosts',
      description: `The weight that the records of a host should have, what decided it, and the weight that external-dns has read. The ${MOST_HOSTS} hosts with the highest weights.`,
      queries: [
        { expr: `topk(${MOST_HOSTS}, max by (host, reason) ${HOST_DESIRED})` },
        { expr: `max by (host) ${HOST_CURRENT}` },
      ],
      by: 'host',
      columns: { host: 'Host', reason: 'Reason', A: 'Desired', B: 'Current' },
      width: 24,
      height: 10,
    }),
  ],
};

/** The dashboard about DNS weights, for TrafficWeights. */
export function weights(): Dashboard {
  return buildDashboard({
    name: 'weights',
    title: 'DNS weights',
    description:
      'The weights of the DNS records of this cluster: asked for, in force, and what decided about each host.',
    variables: [],
    rows: [NOW, HISTORY],
  });
}
