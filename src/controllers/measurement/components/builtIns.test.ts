import { describe, expect, it } from 'vitest';
import type { CommonSpec, ComponentSpec } from '../../../api/trafficstack/trafficStack.ts';
import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import { defaultMeasurementOptions, type MeasurementOptions } from '../options.ts';
import { builtInsOf, FOREIGN_PROMETHEUS } from './builtIns.ts';
import { allComponents } from './components.ts';

const OPTIONS = defaultMeasurementOptions('op');
OPTIONS.prometheus.volume = { kind: 'claim', size: '1Gi' };
OPTIONS.prometheus.tolerations = [{ operator: 'Exists' }];
type Type = 'NodeExporter' | 'Prometheus';

function render(type: Type, settings: Partial<ComponentSpec> = {}, common?: CommonSpec) {
  const builtIn = builtInsOf(OPTIONS).find((each) => each.type === type);
  if (builtIn === undefined) throw new Error(`${type} is not offered`);
  return builtIn.render({ name: 'x', type, ...settings }, common);
}

/** The objects that the controller itself applies for a group with other options. */
function own(type: Type, over: Partial<MeasurementOptions> = {}) {
  const group = type === 'NodeExporter' ? 'exporter' : 'prometheus';
  return allComponents({ ...OPTIONS, ...over })
    .filter((each) => each.group === group)
    .map(({ resource, object }) => ({ resource, object }));
}

describe('the components that stacks may have', () => {
  it.each<[Type, string[]]>([
    [
      'NodeExporter',
      [
        'ServiceAccount op-node-exporter/node-exporter',
        'Service op-node-exporter/node-exporter',
        'DaemonSet op-node-exporter/node-exporter',
      ],
    ],
    [
      'Prometheus',
      [
        'ServiceAccount op/prometheus',
        'ConfigMap op/prometheus-config',
        'Service op/prometheus',
        'Deployment op/prometheus',
      ],
    ],
  ])(
    'are the objects of the controller without settings, the workload last, without namespace and claim: %s',
    (type, ids) => {
      expect(render(type).map(idOf)).toEqual(ids);
      expect(render(type)).toEqual(own(type));
    },
  );

  const resources = { limits: { memory: '1Gi' } };
  const exporter = { image: 'exporter:2', port: 9200, priorityClassName: 'high', resources };
  const samples = { scrapeInterval: '1m', retention: '15d', retentionSize: '8GB' };
  const { prometheus: flags } = OPTIONS;
  const prometheus = {
    ...{ image: 'prometheus:4', priorityClassName: 'high', resources },
    ...{ nodeSelector: { pool: 'infra' }, tolerations: [] },
  };
  it.each<[Type, Partial<ComponentSpec>, Partial<MeasurementOptions>]>([
    ['NodeExporter', { nodeExporter: exporter }, { exporter: { ...OPTIONS.exporter, ...exporter } }],
    ['NodeExporter', { nodeExporter: { image: undefined } }, {}],
    ['Prometheus', { prometheus }, { prometheus: { ...OPTIONS.prometheus, ...prometheus } }],
    ['Prometheus', { prometheus: {} }, {}],
    [
      'NodeExporter',
      { nodeExporter: { ignoredDevices: 'veth.*' } },
      { exporter: { ...OPTIONS.exporter, ignoredDevices: '^(?:veth.*)$' } },
    ],
    [
      'Prometheus',
      { prometheus: samples },
      { prometheus: { ...flags, scrapeIntervalSeconds: 60, retentionTime: '15d', retentionSize: '8GB' } },
    ],
    // Half of the claim.
    [
      'Prometheus',
      { prometheus: { storage: { size: '4Gi', storageClassName: 'fast' } } },
      { prometheus: { ...flags, retentionSize: '2048MB', volume: { kind: 'claim', size: '4Gi' } } },
    ],
    [
      'Prometheus',
      { prometheus: { storage: { existingClaim: 'mine' }, retentionSize: '8GB' } },
      { prometheus: { ...flags, retentionSize: '8GB', volume: { kind: 'existing', claimName: 'mine' } } },
    ],
    ['Prometheus', { prometheus: { storage: {} } }, { prometheus: { ...flags, volume: undefined } }],
  ])('have the settings of the stack instead of the flags: %s %j', (type, settings, options) => {
    expect(render(type, settings)).toEqual(own(type, options));
  });

  const common: CommonSpec = {
    ...{ nodeSelector: { pool: 'common' }, tolerations: [{ key: 'common' }], priorityClassName: 'common' },
    ...{ imagePullSecrets: [{ name: 'registry' }], logLevel: 'debug' },
  };
  const { nodeSelector = {}, tolerations = [], priorityClassName = '' } = common;
  const imagePullSecrets = ['registry'];
  it.each<[string, Type, Partial<ComponentSpec>, Partial<MeasurementOptions>]>([
    [
      'for node-exporter those that keep it on each node',
      'NodeExporter',
      {},
      { imagePullSecrets, exporter: { ...OPTIONS.exporter, priorityClassName } },
    ],
    [
      'for Prometheus all of the placement',
      'Prometheus',
      {},
      { imagePullSecrets, prometheus: { ...OPTIONS.prometheus, nodeSelector, tolerations, priorityClassName } },
    ],
    [
      'and none that the component has itself',
      'Prometheus',
      { prometheus },
      { imagePullSecrets, prometheus: { ...OPTIONS.prometheus, ...prometheus } },
    ],
  ])('have the common settings of the stack instead of the flags: %s', (_, type, settings, options) => {
    expect(render(type, settings, common)).toEqual(own(type, options));
  });

  it('are as the flags say if nothing is common to the stack', () => {
    for (const type of ['NodeExporter', 'Prometheus'] as const) expect(render(type, {}, {})).toEqual(own(type));
  });

  it('may have the node-exporter of another owner that has the port, which the Prometheus of the operator has to scrape', () => {
    const port = (over: Partial<ComponentSpec> = {}) => {
      const discoveryNamespaces = ['monitoring'];
      const [exporter, prometheus] = builtInsOf({ ...OPTIONS, discoveryNamespaces });
      const others = prometheus?.externalProvider?.({ name: 'x', type: 'Prometheus' });
      expect(others).toEqual({
        ...FOREIGN_PROMETHEUS,
        namespaces: discoveryNamespaces,
        placement: { nodeSelector: {} },
      });
      return exporter?.externalProvider?.({ name: 'x', type: 'NodeExporter', ...over });
    };
    expect(port()).toMatchObject({
      sought: 'a DaemonSet with hostNetwork and the port 9100',
      namespaces: ['monitoring'],
    });
    const secured = port({ nodeExporter: { port: 9200 } });
    expect(secured?.sought).toBe('a DaemonSet with hostNetwork and the port 9200');
    const containers = [{ name: 'x', ports: [{ name: 'https', containerPort: 9200 }] }];
    const live = { kind: 'DaemonSet', spec: { selector: {}, template: { spec: { hostNetwork: true, containers } } } };
    expect(secured?.problem(live, new Set())).toBeDefined();
    const [exporter] = builtInsOf({ ...OPTIONS, prometheus: { ...OPTIONS.prometheus, enabled: false } });
    const found = exporter?.externalProvider?.({ name: 'x', type: 'NodeExporter', nodeExporter: { port: 9200 } });
    expect([found?.matches(live, new Set()), found?.problem(live, new Set())]).toEqual([true, undefined]);
  });

  it('have no Prometheus if the operator queries another server', () => {
    const others = builtInsOf({ ...OPTIONS, prometheus: { ...OPTIONS.prometheus, enabled: false } });
    expect(others.map(({ type, problem }) => [type, problem])).toEqual([
      ['NodeExporter', undefined],
      ['Prometheus', expect.stringContaining('--prometheus-url')],
      ['Rules', undefined],
    ]);
  });

  it('have the rules for another Prometheus as one object, which is in no stack of its own and not adopted', () => {
    const found = builtInsOf(OPTIONS).find(({ type }) => type === 'Rules');
    expect([found?.isDeployed, found?.fieldManager]).toEqual([false, undefined]);
    const metadataOf = (rules?: ComponentSpec['rules']) =>
      found?.render({ name: 'x', type: 'Rules', rules }).map(({ object }) => object.metadata);
    const partOf = { 'app.kubernetes.io/part-of': 'traffic-operator' };
    expect(metadataOf()).toEqual([{ name: 'traffic-operator', namespace: 'op', labels: partOf }]);
    expect(metadataOf({ namespace: 'monitoring', labels: { release: 'a' } })).toEqual([
      { name: 'traffic-operator', namespace: 'monitoring', labels: { release: 'a', ...partOf } },
    ]);
  });
});
