import type { AlertGroup, AlertingRule, OfLeader, Severity } from '../api/alertingRule.ts';
import type { FindingClass } from '../api/connectivitycheck/finding.ts';
import { SERVER_NAME } from './objects/names.ts';
import { pingPattern } from './protocol/ping.ts';

/**
 * Returns the first group of alerts about the connectivity check. Both groups are silent without it: the first needs metrics of
 * the server, or its scrape job; the second needs findings, which only ConnectivityChecks have.
 *
 * The first group has the four alerts of k8s-netchecker-server (doc/metrics.md there), with their names and labels. They
 * differ from the original, which assumes an interval of 15 s, and fires for ever at others:
 *
 * | alert | the original, each with `absent(…) or` | here |
 * |---|---|---|
 * | NetCheckerAgentErrors | more than 10 errors in an hour: a sixth of the reports at 60 s, and never at 10 minutes | more than a sixth of the reports |
 * | NetCheckerReportsMissing | fewer than 15 reports in 5 minutes: always above 20 s | agents that are silent by their own interval |
 * | NetCheckerTCPServerDelay | a rise by 100 ms in 5 minutes: ends after 5 minutes, though the delay stays | above 100 ms for 5 minutes |
 * | NetCheckerDNSSlow | a rise by 300 ms in 5 minutes: the same | above 300 ms for 5 minutes |
 *
 * Without any series all four fired, even with nothing deployed. Here one fires, and only where Prometheus has the job.
 */
export function originalAlerts(notMeasurable: string): AlertGroup {
  return { name: 'netchecker', rules: [agentErrors(notMeasurable), REPORTS_MISSING, TCP_DELAY, DNS_SLOW] };
}

/** As in the original: receivers may be chosen by it. */
const LABELS = { service: 'netchecker' };

/** Sums by agent: the series of a replaced server may have another instance. */
const inAnHour = (counter: string): string => `sum by (agent) (increase(${counter}[1h]))`;
const ERRORS = inAnHour('ncagent_error_count_total');
const REPORTS = inAnHour('ncagent_report_count_total');

/** @param notMeasurable the nodes that are not Ready, by the label node: their agents cannot report */
function agentErrors(notMeasurable: string): AlertingRule {
  return {
    alert: 'NetCheckerAgentErrors',
    expr: `label_replace(
  ${ERRORS}
  / (${ERRORS} + ${REPORTS})
  > 1 / 6,
  "node", "$1", "agent", "(.+)-(?:private|host)_network"
)
unless on (node)
${notMeasurable}`,
    for: '5m',
    severity: 'warning',
    labels: LABELS,
    summary: 'Reports of {{ $labels.agent }} are missing',
    description: '{{ $value | humanizePercentage }} of the reports of the last hour did not come.',
  };
}

const REPORTS_MISSING: AlertingRule = {
  alert: 'NetCheckerReportsMissing',
  expr: `sum by (plane) (traffic_operator_connectivity_silent_agents) > 0
or
absent(ncagent_report_count_total) and on () up{job="${SERVER_NAME}"}`,
  for: '5m',
  severity: 'warning',
  labels: LABELS,
  summary: 'Agents of the connectivity check do not report',
  description:
    '{{ if $labels.plane }}Agents of the plane {{ $labels.plane }} that have missed two reports or more: {{ $value }}, for 5 minutes.{{ else }}Prometheus has had no report of any agent for 5 minutes.{{ end }}',
};

/** Matches the path of the server that each agent requests, under any name of the server. */
const PING = `url=~"${pingPattern()}"`;

const TCP_DELAY: AlertingRule = {
  alert: 'NetCheckerTCPServerDelay',
  expr: `max by (agent, url) (ncagent_http_probe_tcp_connection_time_ms{${PING}}) > 100`,
  for: '5m',
  severity: 'warning',
  labels: LABELS,
  summary: 'TCP connections of {{ $labels.agent }} to the connectivity server are slow',
  description: 'A connection takes {{ $value }} ms, and more than 100 ms for 5 minutes.',
};

const DNS_SLOW: AlertingRule = {
  alert: 'NetCheckerDNSSlow',
  expr: 'max by (agent, url) (ncagent_http_probe_dns_lookup_time_ms) > 300',
  for: '5m',
  severity: 'warning',
  labels: LABELS,
  summary: 'DNS lookups of {{ $labels.agent }} are slow',
  description: 'The lookup of {{ $labels.url }} takes {{ $value }} ms, and more than 300 ms for 5 minutes.',
};

interface ClassAlert {
  readonly severity: Severity;
  /** Ends `ConnectivityCheck x: …`. */
  readonly summary: string;
  readonly description: string;
}

/** Critical: more than one node is at fault, or may be, or the findings are old. */
const CLASSES: Readonly<Record<FindingClass, ClassAlert>> = {
  Node: {
    severity: 'warning',
    summary: 'the network of a node fails',
    description: 'Both networks of the node fail or lose packets, or its kubelet does not answer.',
  },
  PodNetwork: {
    severity: 'warning',
    summary: 'the pod network of a node fails',
    description:
      'The network of its pods fails or loses packets. The node itself can be reached, so Kubernetes sees nothing.',
  },
  HostNetwork: {
    severity: 'warning',
    summary: 'the host network of a node fails',
    description: 'The network of the node itself fails or loses packets. The network of its pods works.',
  },
  Link: {
    severity: 'warning',
    summary: 'packets between two nodes are lost',
    description: 'Packets between two nodes are lost, and both reach other nodes.',
  },
  Zone: {
    severity: 'critical',
    summary: 'the network between zones fails',
    description: 'Everything between a zone and the others, or between two zones, fails or loses packets.',
  },
  DNS: {
    severity: 'critical',
    summary: 'the DNS of the cluster does not answer',
    description: 'The DNS of the cluster does not answer one node, or many.',
  },
  MTU: {
    severity: 'warning',
    summary: 'large packets are lost',
    description: 'Small packets pass, and large ones vanish without an answer. Connections hang once they send much.',
  },
  Latency: {
    severity: 'warning',
    summary: 'packets between nodes are slow',
    description: 'Packets arrive, and take much longer than elsewhere in the cluster. Requests are slow and time out.',
  },
  APIServer: {
    severity: 'critical',
    summary: 'the API server is not reached',
    description: 'The Service of the API server is not reached from one node, or from many.',
  },
  Server: {
    severity: 'critical',
    summary: 'the connectivity server is not reached',
    description:
      'The connectivity server does not answer the operator, so that the other findings are old, or nearly no agent reports although the network works.',
  },
  Agent: {
    severity: 'warning',
    summary: 'an agent does not work',
    description: 'An agent does not run, report or listen, and the network of its node works.',
  },
};

/**
 * One alert for each class of findings.
 *
 * After 2 minutes: a restart, or a fault that agents see one after the other, is not an alert.
 */
export function classAlerts(ofLeader: OfLeader): AlertGroup {
  const rules = Object.entries(CLASSES).map(([findingClass, { severity, summary, description }]) => ({
    alert: `Connectivity${findingClass}Fault`,
    expr: `max by (check, class) ${ofLeader('traffic_operator_connectivity_findings', `class="${findingClass}"`)} > 0`,
    for: '2m',
    severity,
    summary: `ConnectivityCheck {{ $labels.check }}: ${summary}`,
    description: `${description} Findings for 2 minutes: {{ $value }}. status.findings has names and figures.`,
  }));
  return { name: 'connectivity', rules };
}
