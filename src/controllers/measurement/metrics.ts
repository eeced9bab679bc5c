import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { METRIC_PREFIX } from '../../runtime/manager/metrics.ts';

/** What the measurement tells of itself. */
export interface MeasurementMetrics {
  /** How many nodes are scraped, after every pass. */
  targets(count: number): void;
  /** How many things keep it from being as it should be. */
  problems(count: number): void;
}

/** Puts the measurement's own metrics into a registry; once a registry. */
export function createMeasurementMetrics(registry: Registry): MeasurementMetrics {
  const gauge = (name: string, help: string): Gauge =>
    new Gauge({ name: `${METRIC_PREFIX}${name}`, help, registers: [registry] });
  const targets = gauge('measurement_targets', 'Nodes in the scrape targets of the deployed Prometheus.');
  const problems = gauge(
    'measurement_problems',
    'Problems that keep node-exporter or Prometheus from the desired state.',
  );
  return { targets: (count) => targets.set(count), problems: (count) => problems.set(count) };
}
