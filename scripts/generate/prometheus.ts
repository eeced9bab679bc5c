import { renderPrometheusConfig } from '../../src/controllers/measurement/components/prometheusConfig.ts';
import { defaultMeasurementOptions } from '../../src/controllers/measurement/options.ts';
import type { GeneratedFile } from './file.ts';

/** The configuration of the operator's own Prometheus, as it is unless an option says otherwise. */
export function prometheus(): GeneratedFile[] {
  const { prometheus: options } = defaultMeasurementOptions('traffic-operator-system');
  return [{ path: 'prometheus/prometheus.yml', content: renderPrometheusConfig(options) }];
}
