import { configFiles } from '../../src/controllers/measurement/components/prometheus.ts';
import { defaultMeasurementOptions } from '../../src/controllers/measurement/options.ts';
import type { GeneratedFile } from './file.ts';

/** The configuration and rules of the operator's own Prometheus, as they are unless an option says otherwise. */
export function prometheus(): GeneratedFile[] {
  const files = configFiles(defaultMeasurementOptions('traffic-operator-system'));
  return files.map(({ path, content }) => ({ path: `prometheus/${path}`, content }));
}
