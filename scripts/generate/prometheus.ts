import { configFiles } from '../../src/controllers/measurement/components/prometheus.ts';
import { renderRecordingRules } from '../../src/controllers/measurement/components/rules/recording.ts';
import { defaultMeasurementOptions } from '../../src/controllers/measurement/options.ts';
import type { GeneratedFile } from './file.ts';

/**
 * The default configuration and rules of the deployed Prometheus, with DNS weights, and the recording rules for a Prometheus that does
 * not scrape the operator.
 */
export function prometheus(): GeneratedFile[] {
  const options = { ...defaultMeasurementOptions('traffic-operator-system'), weights: true };
  const files = configFiles(options).map(({ path, content }) => ({ path: `prometheus/${path}`, content }));
  const withoutOperator = renderRecordingRules({ ...options, operatorMetrics: false });
  return [...files, { path: 'prometheus/rules/recording-without-operator.yml', content: withoutOperator }];
}
