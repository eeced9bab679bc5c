// The same files as in the chart. The bundle has them compressed.
import connectivity from '../../../../charts/traffic-operator/dashboards/connectivity.json' with { type: 'json' };
import nodes from '../../../../charts/traffic-operator/dashboards/nodes.json' with { type: 'json' };
import operator from '../../../../charts/traffic-operator/dashboards/operator.json' with { type: 'json' };
import stacks from '../../../../charts/traffic-operator/dashboards/stacks.json' with { type: 'json' };
import trafficwatch from '../../../../charts/traffic-operator/dashboards/trafficwatch.json' with { type: 'json' };
import weights from '../../../../charts/traffic-operator/dashboards/weights.json' with { type: 'json' };
import type { DashboardsSpec } from '../../../api/trafficstack/trafficStack.ts';
import { CONFIG_MAPS } from '../../../runtime/client/resources.ts';
import type { BuiltInObject, BuiltIn } from '../../contract/builtIn.ts';
import { PART_OF } from '../../contract/labels.ts';

const DASHBOARDS: Readonly<Record<string, object>> = { connectivity, nodes, operator, stacks, trafficwatch, weights };
/** Labels that the sidecar of the Grafana chart selects by default. */
const LABELS = { grafana_dashboard: '1' };

/**
 * Renders one ConfigMap for each dashboard, with names and content as in the chart: Grafana does not load a dashboard twice, and a conflict is
 * reported.
 *
 * @param operatorNamespace the default namespace
 */
function dashboardsOf(settings: DashboardsSpec = {}, operatorNamespace: string): BuiltInObject[] {
  const { namespace = operatorNamespace, labels = LABELS, annotations } = settings;
  return Object.entries(DASHBOARDS).map(([name, dashboard]) => ({
    resource: CONFIG_MAPS,
    object: {
      ...{ apiVersion: 'v1', kind: CONFIG_MAPS.kind },
      metadata: {
        ...{ name: `${PART_OF}-dashboard-${name}`, namespace },
        labels: { ...labels, 'app.kubernetes.io/part-of': PART_OF },
        ...(annotations !== undefined && { annotations }),
      },
      data: { [`${PART_OF}-${name}.json`]: JSON.stringify(dashboard, null, 2) },
    } as BuiltInObject['object'],
  }));
}

/** Returns the built-in types of this controller, which only a stack deploys. @param namespace of the operator */
export function builtInsOf(namespace: string): BuiltIn[] {
  return [{ type: 'Dashboards', isDeployed: false, render: ({ dashboards }) => dashboardsOf(dashboards, namespace) }];
}
