import type { PrometheusOptions } from '../options.ts';

/** Where the target files are in Prometheus' container. */
export const TARGETS_DIRECTORY = '/etc/prometheus/targets';

/** The metrics that the bandwidth of a node is worked out from; all others are dropped as they are scraped. */
export const KEPT_METRICS: readonly string[] = [
  'node_network_transmit_bytes_total',
  'node_network_speed_bytes',
  'node_network_flags',
  'node_network_iface_id',
  'node_network_iface_link',
  'node_ethtool_info',
];

/**
 * prometheus.yml of the operator's own Prometheus. prometheus/prometheus.yml is what it is by default.
 *
 * The refresh interval is no shorter because Prometheus learns of a changed file from the file system, and answers a
 * source that keeps sending by looking at all of them only every 5 s.
 */
export function renderPrometheusConfig(options: PrometheusOptions): string {
  const { scrapeIntervalSeconds, retentionTime, retentionSize } = options;
  return `# The operator's own Prometheus: the bandwidth of the nodes, and nothing else.
# Rendered by src/controllers/measurement/components/prometheusConfig.ts; a change made here does not last.
global:
  scrape_interval: ${scrapeIntervalSeconds}s
  scrape_timeout: ${scrapeIntervalSeconds}s

storage:
  tsdb:
    retention:
      time: ${retentionTime}
      size: ${retentionSize}

scrape_configs:
  - job_name: node-exporter
    # Written by the operator from the EndpointSlices of node-exporter, one target a node.
    file_sd_configs:
      - files: ['${TARGETS_DIRECTORY}/*.json']
        refresh_interval: 30s
    relabel_configs:
      # As in kube-prometheus, a series stays the same when its node gets another address.
      - source_labels: [node]
        target_label: instance
    metric_relabel_configs:
      - source_labels: [__name__]
        regex: ${KEPT_METRICS.join('|')}
        action: keep
`;
}
