import type { Row } from './dashboard.ts';
import { NONE_EXPECTED, PLAIN } from './appearance.ts';
import { barsPanel, linesPanel } from './panels.ts';

/** Panels about the metrics of k8s-netchecker. The server has them: see connectivityNodes.ts. */
const MOST = 20;

const probe = (figure: string): string => `ncagent_http_probe_${figure}{}`;
/** The original counts milliseconds. */
const seconds = (figure: string): string => `avg(${probe(`${figure}_ms`)}) / 1000`;

export const AGENTS: Row = {
  title: 'Agents, by the metrics of k8s-netchecker',
  panels: [
    linesPanel({
      title: 'Reports',
      description: 'Reports of all agents per second, and reports that did not come.',
      queries: [
        { expr: 'sum(rate(ncagent_report_count_total{}[$__rate_interval]))', legend: 'reports' },
        { expr: 'sum(rate(ncagent_error_count_total{}[$__rate_interval]))', legend: 'missing' },
      ],
      unit: 'ops',
    }),
    barsPanel({
      title: 'Agents that miss most reports',
      description: `Missing reports within the last hour, of up to ${MOST} agents.`,
      queries: [
        {
          expr: `topk(${MOST}, sum by (agent) (increase(ncagent_error_count_total{}[1h])))`,
          legend: '{{agent}}',
        },
      ],
      decimals: 0,
      steps: NONE_EXPECTED,
      width: 12,
      height: 8,
    }),
    linesPanel({
      title: 'Duration of requests',
      description:
        'What agents need for a request to the server and to the first of the probe URLs, on average: all of it, and its parts. The deployed Prometheus does not keep the time of the content.',
      queries: [
        { expr: seconds('total_time'), legend: 'all' },
        { expr: seconds('dns_lookup_time'), legend: 'DNS lookup' },
        { expr: seconds('tcp_connection_time'), legend: 'TCP connection' },
        { expr: seconds('connect_time'), legend: 'lookup and connection' },
        { expr: seconds('server_processing_time'), legend: 'server' },
        { expr: seconds('content_transfer_time'), legend: 'content' },
      ],
      unit: 's',
    }),
    barsPanel({
      title: 'Slowest requests',
      description: `Last request of up to ${MOST} agents and URLs.`,
      queries: [
        { expr: `topk(${MOST}, max by (agent, url) (${probe('total_time_ms')})) / 1000`, legend: '{{agent}} {{url}}' },
      ],
      unit: 's',
      steps: PLAIN,
      width: 12,
      height: 8,
    }),
    linesPanel({
      title: 'Failed requests',
      description: 'Agents and URLs whose last request got no connection, or a status of 400 or more.',
      queries: [
        { expr: `sum(${probe('connection_result')} == bool 0)`, legend: 'no connection' },
        { expr: `sum(${probe('code')} >= bool 400)`, legend: 'status of 400 or more' },
      ],
    }),
    linesPanel({
      title: 'Failing agents by URL',
      description:
        'Agents whose last request for a URL of a ConnectivityCheck (probes.urls) got no connection, no response, or a status of 400 or more.',
      queries: [{ expr: 'max by (url) (traffic_operator_connectivity_url_failing_agents{})', legend: '{{url}}' }],
    }),
  ],
};
