import { expect, it } from 'vitest';
import { dashboards } from '../../../../dashboards/all.ts';
import type { DashboardsSpec } from '../../../api/trafficstack/trafficStack.ts';
import { CONFIG_MAPS } from '../../../runtime/client/resources.ts';
import { builtInsOf } from './dashboards.ts';

const rendered = (settings?: DashboardsSpec) =>
  builtInsOf('op').flatMap((each) => each.render({ name: 'boards', type: 'Dashboards', dashboards: settings }));
const metadataOf = (settings?: DashboardsSpec) => rendered(settings).map(({ object }) => object.metadata);

it('each dashboard is a ConfigMap with its present content', () => {
  const found = new Map(rendered().map(({ resource, object }) => [object.metadata?.name, { resource, ...object }]));
  const all = Object.entries(dashboards());
  expect(found.size).toBe(all.length);
  for (const [name, dashboard] of all) {
    expect(found.get(`traffic-operator-dashboard-${name}`)).toEqual({
      ...{ resource: CONFIG_MAPS, apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: {
        ...{ name: `traffic-operator-dashboard-${name}`, namespace: 'op' },
        labels: { grafana_dashboard: '1', 'app.kubernetes.io/part-of': 'traffic-operator' },
      },
      data: { [`traffic-operator-${name}.json`]: JSON.stringify(dashboard, null, 2) },
    });
  }
});

it('they are where the stack says, with its labels instead of the label of Grafana, and its annotations', () => {
  const annotations = { grafana_folder: 'Network' };
  for (const metadata of metadataOf({ namespace: 'monitoring', labels: { board: 'yes' }, annotations })) {
    expect(metadata).toMatchObject({ namespace: 'monitoring', annotations });
    expect(metadata?.labels).toEqual({ board: 'yes', 'app.kubernetes.io/part-of': 'traffic-operator' });
  }
});

it('they are in no stack of its own, and none that exist are adopted', () => {
  expect(builtInsOf('op')).toEqual([
    { type: 'Dashboards', isDeployed: false, render: expect.any(Function) as unknown },
  ]);
});
