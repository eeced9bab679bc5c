import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { METRIC_PREFIX } from '../../runtime/manager/metrics.ts';

/** The metrics of the measurement. */
export interface MeasurementMetrics {
  /** Sets the number of nodes that are scraped. */
  targets(count: number): void;
  /** Sets the number of present problems. */
  problems(count: number): void;
}

/** Registers the metrics of the measurement. Call once for each registry. */
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
