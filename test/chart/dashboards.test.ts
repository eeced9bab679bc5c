import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dashboards } from '../../dashboards/all.ts';
import { helmTemplate, type Manifest } from '../../scripts/chart/helm.ts';
import { builtInsOf } from '../../src/controllers/trafficstack/render/dashboards.ts';

const NAMES = Object.keys(dashboards());

function configMaps(...values: readonly string[]): Manifest[] {
  const objects = helmTemplate(...values.flatMap((value) => ['--set-string', value]));
  return objects.filter(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.includes('-dashboard-'));
}

describe('the dashboards of the chart', () => {
  it('are one ConfigMap each, with the file as it stands, found by the label that Grafana looks for', () => {
    const found = new Map(configMaps().map((each) => [each.metadata.name, each]));
    expect(found.size).toBe(NAMES.length);
    for (const name of NAMES) {
      const { data, metadata } = found.get(`traffic-operator-dashboard-${name}`)!;
      const file = new URL(`../../charts/traffic-operator/dashboards/${name}.json`, import.meta.url);
      expect(data).toEqual({ [`traffic-operator-${name}.json`]: readFileSync(file, 'utf8').trimEnd() });
      expect(metadata).toMatchObject({
        namespace: 'traffic-operator-system',
        labels: { grafana_dashboard: '1', 'app.kubernetes.io/part-of': 'traffic-operator' },
      });
      expect(metadata.annotations).toBeUndefined();
    }
  });

  it('have the names of the dashboards of a stack: with both, the stack finds them and does not touch them', () => {
    const ofStack = builtInsOf('traffic-operator-system').flatMap((each) =>
      each.render({ name: 'x', type: each.type }),
    );
    const contentOf = ({ metadata, data }: Manifest) => [metadata.namespace, metadata.name, data];
    const objects = ofStack.map(({ object }) => object as unknown as Manifest);
    expect(objects.map(contentOf)).toEqual(configMaps().map(contentOf));
  });

  it('still have the names of lines, which look like templates of helm', () => {
    const text = JSON.stringify(configMaps().map(({ data }) => data));
    expect(text).toContain('{{node}}');
  });

  it('go where a value says, with another label and with annotations', () => {
    const values = ['namespace=monitoring', 'label=x.io/board', 'labelValue=yes', 'annotations.grafana_folder=Network'];
    const found = configMaps(...values.map((value) => `dashboards.${value}`));
    expect(found).toHaveLength(NAMES.length);
    for (const { metadata } of found) {
      expect(metadata.namespace).toBe('monitoring');
      expect(metadata.labels).toMatchObject({ 'x.io/board': 'yes' });
      expect(metadata.labels).not.toHaveProperty('grafana_dashboard');
      expect(metadata.annotations).toEqual({ grafana_folder: 'Network' });
    }
  });

  it('can be left out', () => {
    const objects = helmTemplate('--set', 'dashboards.enabled=false');
    expect(objects.filter(({ metadata }) => metadata.name.includes('dashboard'))).toEqual([]);
  });

  it('fit into a ConfigMap and the annotation that kubectl apply makes of it', () => {
    for (const map of configMaps()) expect(JSON.stringify(map).length).toBeLessThan(256 * 1024);
  });
});
