import { dashboards } from '../../dashboards/all.ts';
import type { GeneratedFile } from './file.ts';

/** The dashboards as Grafana reads them; the chart puts them into ConfigMaps. */
export function dashboardFiles(): GeneratedFile[] {
  return Object.entries(dashboards()).map(([name, dashboard]) => ({
    path: `charts/traffic-operator/dashboards/${name}.json`,
    content: `${JSON.stringify(dashboard, null, 2)}\n`,
  }));
}
