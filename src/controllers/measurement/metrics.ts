import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { METRIC_PREFIX, type LeadingProcess } from '../../runtime/manager/metrics.ts';
import type { MeasurementOptions } from './options.ts';

/** The metrics of the measurement. */
export interface MeasurementMetrics {
  /** Sets the number of nodes that are scraped. */
  targets(count: number): void;
  /** Sets the number of present problems. */
  problems(count: number): void;
}

/**
 * Registers the metrics of the measurement. Call once for each registry.
 *
 * @param options.weights whether the process for DNS weights should run, so that an alert shows if it does not
 */
export function createMeasurementMetrics(
  registry: Registry,
  { weights = false }: Pick<MeasurementOptions, 'weights'> = {},
): MeasurementMetrics {
  const gauge = (name: string, help: string): Gauge =>
    new Gauge({ name: `${METRIC_PREFIX}${name}`, help, registers: [registry] });
  const targets = gauge('measurement_targets', 'Nodes in the scrape targets of the deployed Prometheus.');
  const problems = gauge(
    'measurement_problems',
    'Problems that keep node-exporter or Prometheus from the desired state.',
  );
  const expected = new Gauge({
    name: `${METRIC_PREFIX}process_expected`,
    help: '1 for a process that should run besides the manager: weights, for DNS weights. Absent if it should not.',
    labelNames: ['process'],
    registers: [registry],
  });
  if (weights) expected.set({ process: 'weights' satisfies LeadingProcess }, 1);
  return { targets: (count) => targets.set(count), problems: (count) => problems.set(count) };
}
