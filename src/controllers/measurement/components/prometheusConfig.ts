import { pingPattern } from '../../../connectivity/protocol/ping.ts';
import { AGENT_METRICS } from '../../../connectivity/protocol/agentMetrics.ts';
import { RECEIVED } from '../../../usage/pass/queries.ts';
import { FACT_METRICS } from '../../../usage/series/factMetrics.ts';
import { AGENT_NAME, SERVER_NAME, serverAddress, SERVICE_NAME } from '../../../connectivity/objects/names.ts';
import { AGENT_TARGETS, NODE_TARGETS, OPERATOR_FILE, OPERATOR_JOB, targetFiles } from '../names.ts';
import { PROMETHEUS_PORT } from '../options.ts';
import type { MeasurementOptions, PrometheusOptions } from '../options.ts';

/** The directory of the target files in Prometheus' container. */
export const TARGETS_DIRECTORY = '/etc/prometheus/targets';
/** The directory of the CA of the connectivity server there. */
export const SERVER_CA_DIRECTORY = '/etc/prometheus/connectivity-ca';

/**
 * The metrics for the bandwidth use of a node. All others are dropped at scrape time. The received bytes are kept even
 * if no object asks for them: the measurement does not depend on custom resources, and a rate needs earlier samples.
 */
export const KEPT_METRICS = [...FACT_METRICS, RECEIVED];

/** The metrics of the operator that dashboards and alerts use. */
const KEPT_OPERATOR_METRICS = ['traffic_operator_.*', 'process_.*', 'nodejs_eventloop_lag.*'];

/** The URL of the server that every agent requests; original agents have it without the namespace. */
const SERVER_PING = pingPattern(`${SERVICE_NAME}[^/]*`);

/**
 * The series of the connectivity server that are kept, as metric and label `url`. Series of one node with its two agents:
 *
 * | series | kept | dropped |
 * |---|---|---|
 * | ncagent_report_count_total, ncagent_error_count_total | 4 | |
 * | ncagent_http_probe_*, 8 metrics, of the server's own URL | 14 | content_transfer_time_ms: the answer has no body |
 * | the same of another URL | 2 | all but connection_result |
 * | loss_ratio, latency_seconds of both planes | 4 | |
 * | of the agents: AGENT_METRICS, 3 each | 6 | |
 * | up, scrape_* of the agents, 5 each | 10 | |
 * | sum | 40 | |
 *
 * Nothing is dropped from the page of the server: another Prometheus can keep all.
 */
const KEPT_CONNECTIVITY_SERIES = [
  'ncagent_(?:report|error)_count_total;.*',
  'ncagent_http_probe_connection_result;.*',
  `ncagent_http_probe_(?:code|(?:total|tcp_connection|dns_lookup|connect|server_processing)_time_ms);${SERVER_PING}`,
  ...KEPT_OPERATOR_METRICS.map((metric) => `${metric};.*`),
];

/** The metrics of Prometheus itself that show its load and its size. */
const KEPT_PROMETHEUS_METRICS = [
  'prometheus_build_info',
  'prometheus_rule_evaluation_failures_total',
  'prometheus_rule_group_iterations_missed_total',
  'prometheus_target_scrapes_.*_total',
  'prometheus_tsdb_head_samples_appended_total',
  'prometheus_tsdb_head_series',
  'prometheus_tsdb_storage_blocks_bytes',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
];

/** The rule files, relative to the directory of prometheus.yml: both in prometheus/ and in the container. */
export const RULE_FILES = { recording: 'rules/recording.yml', alerts: 'rules/alerts.yml' } as const;

/**
 * Go's GOGC: how much the heap may grow before a garbage collection, in percent of the live heap. Nearly all memory of
 * this Prometheus is live series, so Prometheus' default of 75 reserves three quarters of it again for little garbage.
 * Measurements of both are in docs/performance.md.
 */
const GOGC = 25;

/** Minimum interval of rules and of scrapes that no verdict depends on: seconds. */
const UNHURRIED_SECONDS = 15;
/** Minimum interval of the scrapes of agents, whose load changes slowly: seconds. Two scrapes fit into a rate over 1m. */
const AGENTS_SECONDS = 30;

/**
 * prometheus.yml of the deployed Prometheus. prometheus/prometheus.yml is its content with default options.
 *
 * The refresh interval need not be shorter: the file system notifies Prometheus of changed files, and Prometheus
 * applies updates of its targets at most every 5 s.
 */
export function renderPrometheusConfig(
  options: Pick<MeasurementOptions, 'namespace' | 'operatorMetrics' | 'connectivity' | 'connectivityTlsSecret'> & {
    prometheus: PrometheusOptions;
  },
): string {
  const { scrapeIntervalSeconds, retentionTime, retentionSize } = options.prometheus;
  const unhurried = Math.max(UNHURRIED_SECONDS, scrapeIntervalSeconds);
  return `# The operator's own Prometheus: the bandwidth of the nodes, the operator's own metrics, and its own.
# Rendered by src/controllers/measurement/components/prometheusConfig.ts; do not edit.
global:
  scrape_interval: ${scrapeIntervalSeconds}s
  scrape_timeout: ${scrapeIntervalSeconds}s
  evaluation_interval: ${unhurried}s

runtime:
  gogc: ${GOGC}

storage:
  tsdb:
    retention:
      time: ${retentionTime}
      size: ${retentionSize}

rule_files:
${Object.values(RULE_FILES)
  .map((file) => `  - ${file}\n`)
  .join('')}
scrape_configs:
  - job_name: node-exporter
    # Written by the operator from the EndpointSlices of node-exporter, one target a node.
    file_sd_configs:
      - files: ['${TARGETS_DIRECTORY}/${targetFiles(NODE_TARGETS)}']
        refresh_interval: 30s
    relabel_configs:
      # As in kube-prometheus, a series stays the same when its node gets another address.
      - source_labels: [node]
        target_label: instance
${keepOnly(KEPT_METRICS)}${options.operatorMetrics ? operatorJob(unhurried) : ''}${options.connectivity ? connectivityJobs(options, scrapeIntervalSeconds) : ''}
  - job_name: prometheus
    scrape_interval: ${unhurried}s
    static_configs:
      - targets: ['localhost:${PROMETHEUS_PORT}']
${keepOnly(KEPT_PROMETHEUS_METRICS)}`;
}

/** The scrape interval of such a file, seconds; undefined if it has none. */
export function scrapeIntervalIn(config: string): number | undefined {
  const [, seconds] = /^global:\n  scrape_interval: (\d+)s$/m.exec(config) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}

function operatorJob(intervalSeconds: number): string {
  return `
  - job_name: ${OPERATOR_JOB}
    scrape_interval: ${intervalSeconds}s
    # Written by the operator from the EndpointSlices of its own metrics Service, one target a pod.
    file_sd_configs:
      - files: ['${TARGETS_DIRECTORY}/${OPERATOR_FILE}']
        refresh_interval: 30s
${keepOnly(KEPT_OPERATOR_METRICS)}`;
}

/** Prometheus reads the file again when it changes. */
const SERVER_TLS = `    scheme: https
    tls_config:
      ca_file: ${SERVER_CA_DIRECTORY}/ca.crt
`;

function connectivityJobs(
  { namespace, connectivityTlsSecret }: Pick<MeasurementOptions, 'namespace' | 'connectivityTlsSecret'>,
  intervalSeconds: number,
): string {
  const tls = connectivityTlsSecret === '' ? '' : SERVER_TLS;
  return `
  - job_name: ${SERVER_NAME}
    scrape_interval: ${Math.max(UNHURRIED_SECONDS, intervalSeconds)}s
${tls}    # The server has one replica. Its Service finds it without a right to read its pods.
    static_configs:
      - targets: ['${serverAddress(namespace)}']
    metric_relabel_configs:
      # At most 40 series a node, including the series of its agents.
      - source_labels: [__name__, url]
        regex: ${KEPT_CONNECTIVITY_SERIES.join('|')}
        action: keep

  - job_name: ${AGENT_NAME}
    scrape_interval: ${Math.max(AGENTS_SECONDS, intervalSeconds)}s
    # Written by the operator from the EndpointSlices of the agents, both agents of a node in one group.
    file_sd_configs:
      - files: ['${TARGETS_DIRECTORY}/${targetFiles(AGENT_TARGETS)}']
        refresh_interval: 30s
    relabel_configs:
      # An address is such as 10.0.0.1:8082/Host.
      - source_labels: [__address__]
        regex: .+/(.+)
        target_label: plane
      - source_labels: [__address__]
        regex: (.+)/.+
        target_label: __address__
      - source_labels: [node]
        target_label: instance
${keepOnly(AGENT_METRICS.map(({ name }) => name))}`;
}

function keepOnly(metrics: readonly string[]): string {
  return `    metric_relabel_configs:
      - source_labels: [__name__]
        regex: ${metrics.join('|')}
        action: keep
`;
}
