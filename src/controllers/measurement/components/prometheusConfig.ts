import { FACT_METRICS, RECEIVED } from '../../../usage/pass/queries.ts';
import { SERVER_NAME, SERVER_PORT, SERVICE_NAME } from '../../../connectivity/objects/names.ts';
import { OPERATOR_FILE, OPERATOR_JOB, TARGET_FILES } from '../names.ts';
import { PROMETHEUS_PORT } from '../options.ts';
import type { MeasurementOptions, PrometheusOptions } from '../options.ts';

/** The directory of the target files in Prometheus' container. */
export const TARGETS_DIRECTORY = '/etc/prometheus/targets';

/**
 * The metrics for the bandwidth use of a node. All others are dropped at scrape time. The received bytes are kept even
 * if no object asks for them: the measurement does not depend on custom resources, and a rate needs earlier samples.
 */
export const KEPT_METRICS = [...FACT_METRICS, RECEIVED];

/** The metrics of the operator that dashboards and alerts use. */
const KEPT_OPERATOR_METRICS = ['traffic_operator_.*', 'process_.*', 'nodejs_eventloop_lag.*'];

/** The metrics of the connectivity check that dashboards and alerts use: ncagent_* are those of the original. */
const KEPT_CONNECTIVITY_METRICS = ['ncagent_.*', ...KEPT_OPERATOR_METRICS];

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

/**
 * prometheus.yml of the deployed Prometheus. prometheus/prometheus.yml is its content with default options.
 *
 * The refresh interval need not be shorter: the file system notifies Prometheus of changed files, and Prometheus
 * applies updates of its targets at most every 5 s.
 */
export function renderPrometheusConfig(
  options: Pick<MeasurementOptions, 'namespace' | 'operatorMetrics' | 'connectivity'> & {
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
      - files: ['${TARGETS_DIRECTORY}/${TARGET_FILES}']
        refresh_interval: 30s
    relabel_configs:
      # As in kube-prometheus, a series stays the same when its node gets another address.
      - source_labels: [node]
        target_label: instance
${keepOnly(KEPT_METRICS)}${options.operatorMetrics ? operatorJob(unhurried) : ''}${options.connectivity ? connectivityJob(options.namespace, unhurried) : ''}
  - job_name: prometheus
    scrape_interval: ${unhurried}s
    static_configs:
      - targets: ['localhost:${PROMETHEUS_PORT}']
${keepOnly(KEPT_PROMETHEUS_METRICS)}`;
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

/** One target: the server has one replica. A Service finds it without a right to read its pods. */
function connectivityJob(namespace: string, intervalSeconds: number): string {
  return `
  - job_name: ${SERVER_NAME}
    scrape_interval: ${intervalSeconds}s
    static_configs:
      - targets: ['${SERVICE_NAME}.${namespace}.svc:${SERVER_PORT}']
${keepOnly(KEPT_CONNECTIVITY_METRICS)}`;
}

function keepOnly(metrics: readonly string[]): string {
  return `    metric_relabel_configs:
      - source_labels: [__name__]
        regex: ${metrics.join('|')}
        action: keep
`;
}
