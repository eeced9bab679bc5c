import { FACT_METRICS } from '../../../usage/pass/queries.ts';
import { OPERATOR_FILE, OPERATOR_JOB, TARGET_FILES } from '../names.ts';
import { PROMETHEUS_PORT } from '../options.ts';
import type { MeasurementOptions, PrometheusOptions } from '../options.ts';

/** Where the target files are in Prometheus' container. */
export const TARGETS_DIRECTORY = '/etc/prometheus/targets';

/** The metrics that the bandwidth of a node is worked out from; all others are dropped as they are scraped. */
export const KEPT_METRICS = FACT_METRICS;

/** Of the operator's own metrics, those that dashboards and alerts are made of. */
const KEPT_OPERATOR_METRICS = ['traffic_operator_.*', 'process_.*', 'nodejs_eventloop_lag.*'];

/** Of Prometheus' own: whether it keeps up, and how large it is. */
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

/** The rule files, from where prometheus.yml is: in prometheus/ as in the container. */
export const RULE_FILES = { recording: 'rules/recording.yml', alerts: 'rules/alerts.yml' } as const;

/**
 * Percent of what is in use by which the heap may grow before Go collects. Nearly all of this Prometheus' memory is its
 * series, which stay: its default of 75 reserves three quarters of that again for little garbage. Both are measured in
 * docs/performance.md.
 */
const GOGC = 25;

/** What does not decide anything is scraped and evaluated no more often than this. */
const UNHURRIED_SECONDS = 15;

/**
 * prometheus.yml of the operator's own Prometheus. prometheus/prometheus.yml is what it is by default.
 *
 * The refresh interval is no shorter because Prometheus learns of a changed file from the file system, and answers a
 * source that keeps sending by looking at all of them only every 5 s.
 */
export function renderPrometheusConfig(
  options: Pick<MeasurementOptions, 'operatorMetrics'> & { prometheus: PrometheusOptions },
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
${keepOnly(KEPT_METRICS)}${options.operatorMetrics ? operatorJob(unhurried) : ''}
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

function keepOnly(metrics: readonly string[]): string {
  return `    metric_relabel_configs:
      - source_labels: [__name__]
        regex: ${metrics.join('|')}
        action: keep
`;
}
