import { describe, expect, it } from 'vitest';
import { SHARED_FLAGS } from '../../contract/flags.ts';
import type { ComponentSpec } from '../../../api/trafficstack/trafficStack.ts';
import { parseTrafficStackSpec } from '../../../api/trafficstack/schema.ts';
import { readFlags } from '../../../options/readFlags.ts';
import { MEASUREMENT_FLAGS, measurementOptions } from '../flags.ts';
import { builtInsOf } from './builtIns.ts';
import { claimComponents, prometheusMeta } from './prometheus.ts';
import { prometheusProblem, withPrometheus } from './settings.ts';

const optionsOf = (...args: string[]) => {
  const flags = { ...SHARED_FLAGS, ...MEASUREMENT_FLAGS };
  return measurementOptions(readFlags({ name: 'manager', flags }, ['--namespace=op', ...args], {}));
};
/** The components of the stack default with these flags. */
const componentsOf = (...args: string[]): ComponentSpec[] =>
  builtInsOf(optionsOf(...args)).flatMap(({ type, isDeployed, settings }) =>
    isDeployed ? [{ name: type.toLowerCase(), type, ...settings }] : [],
  );
/** The objects that an operator with these flags makes of a stack, and of its claim. */
function madeOf(components: readonly ComponentSpec[], ...args: string[]) {
  const options = optionsOf(...args);
  const builtIns = new Map(builtInsOf(options).map((each) => [each.type, each]));
  const { volume } = withPrometheus(options, components.find(({ prometheus }) => prometheus)?.prometheus).prometheus;
  return [
    components.map((each) => builtIns.get(each.type as 'Prometheus')?.render(each)),
    claimComponents(volume, prometheusMeta('prometheus', options)),
  ];
}
const BARE: ComponentSpec[] = [
  { name: 'nodeexporter', type: 'NodeExporter' },
  { name: 'prometheus', type: 'Prometheus' },
];

/** The affinity to nodes without a label. */
function without(key: string) {
  const nodeSelectorTerms = [{ matchExpressions: [{ key, operator: 'DoesNotExist' }] }];
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
}

const ALL = [
  '--node-exporter-port=9200',
  '--node-exporter-priority-class=high',
  '--node-exporter-node-selector=pool=web',
  `--node-exporter-affinity=${JSON.stringify(without('edge'))}`,
  '--node-exporter-resources={"limits":{"memory":"64Mi"}}',
  '--node-exporter-ignored-devices=veth.*|cni[0-9]+',
  '--prometheus-priority-class=high',
  '--prometheus-node-selector=pool=infra',
  '--prometheus-tolerations=[{"operator":"Exists"}]',
  '--prometheus-resources={"limits":{"memory":"4Gi"}}',
  '--prometheus-retention=1w12h',
  '--scrape-interval=90s',
];
/** Each of these flags with another value. */
const OTHERS = [
  '--node-exporter-port=9300',
  '--node-exporter-priority-class=low',
  '--node-exporter-node-selector=pool=db',
  `--node-exporter-affinity=${JSON.stringify(without('lab'))}`,
  '--node-exporter-resources={}',
  '--node-exporter-ignored-devices=tap.*',
  '--prometheus-priority-class=low',
  '--prometheus-node-selector=pool=other',
  '--prometheus-tolerations=[]',
  '--prometheus-resources={}',
  '--prometheus-retention=30d',
  '--scrape-interval=10s',
];

describe('the settings of the flags', () => {
  it('are all, but for a placement that is empty, and the devices that the operator itself ignores', () => {
    expect(componentsOf()).toEqual([
      {
        ...BARE[0],
        nodeExporter: {
          port: 9100,
          resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '96Mi' } },
        },
      },
      {
        ...BARE[1],
        prometheus: {
          resources: { requests: { cpu: '50m', memory: '192Mi' }, limits: { memory: '1Gi' } },
          ...{ scrapeInterval: '5s', retention: '24h', storage: {} },
        },
      },
    ]);
  });

  it('are not the settings of the operator itself', () => {
    const others = ['--prometheus-image=mine:1', '--image-pull-secret=registry', '--openshift=true'];
    expect(componentsOf(...others)).toEqual(componentsOf());
    expect(componentsOf(...ALL, ...others)).toEqual([
      {
        ...BARE[0],
        nodeExporter: {
          ...{ port: 9200, priorityClassName: 'high', resources: { limits: { memory: '64Mi' } } },
          ...{ nodeSelector: { pool: 'web' }, affinity: without('edge') },
          ignoredDevices: 'veth.*|cni[0-9]+',
        },
      },
      {
        ...BARE[1],
        prometheus: {
          ...{ priorityClassName: 'high', nodeSelector: { pool: 'infra' }, tolerations: [{ operator: 'Exists' }] },
          ...{ resources: { limits: { memory: '4Gi' } }, retention: '1w12h', scrapeInterval: '90s', storage: {} },
        },
      },
    ]);
  });

  it.each<[string[], object]>([
    [['--prometheus-retention-size=8GB'], { storage: {}, retentionSize: '8GB' }],
    [['--prometheus-storage-size=10Gi'], { storage: { size: '10Gi' } }],
    [
      ['--prometheus-storage-size=10Gi', '--prometheus-storage-class=fast', '--prometheus-retention-size=8GB'],
      { storage: { size: '10Gi', storageClassName: 'fast' }, retentionSize: '8GB' },
    ],
    [['--prometheus-existing-claim=mine'], { storage: { existingClaim: 'mine' } }],
  ])('have the volume as it is: %j', (args, prometheus) => {
    const { storage, retentionSize } = componentsOf(...args)[1]?.prometheus ?? {};
    expect({ storage, retentionSize }).toEqual(prometheus);
  });

  const VOLUMES = [
    [],
    ['--prometheus-retention-size=8GB'],
    ['--prometheus-storage-size=10Gi', '--prometheus-storage-class=fast'],
    ['--prometheus-storage-size=10Gi', '--prometheus-retention-size=8GB'],
    ['--prometheus-existing-claim=mine', '--prometheus-retention-size=8GB'],
  ];
  it.each(VOLUMES.map((volume) => [[...ALL, ...volume]]))(
    'in a stack make the same objects, also with other flags later: %j',
    (args) => {
      const made = madeOf(componentsOf(...args), ...args);
      // A stack without settings, which an earlier version has made: no pod is replaced.
      expect(made).toEqual(madeOf(BARE, ...args));
      expect(madeOf(componentsOf(...args), ...OTHERS, '--prometheus-storage-size=99Gi')).toEqual(made);
    },
  );

  it('are accepted by the schema of a stack', () => {
    for (const volume of VOLUMES) {
      const spec = { components: componentsOf(...ALL, ...volume) };
      expect(parseTrafficStackSpec({ metadata: { name: 'default' }, spec })).toEqual({ spec });
    }
  });
});

describe('the settings of a Prometheus compared with the flags', () => {
  it.each<[object, number | undefined, string | undefined]>([
    [{ scrapeInterval: '2m' }, undefined, undefined],
    [{ scrapeInterval: '15s', retention: '2h' }, 60, undefined],
    [
      { scrapeInterval: '16s' },
      60,
      'prometheus.scrapeInterval is "16s": --window is 60s, and must be four scrapes, 64s, at least',
    ],
    [{ retention: '2h' }, 7_201, 'prometheus.retention is "2h": must be 7201s at least, which is --window'],
    [{}, 60, undefined],
  ])('%j with the window %s: %s', (settings, windowSeconds, problem) => {
    expect(prometheusProblem({ windowSeconds }, settings)).toBe(problem);
  });
});

it('an existing monitoring is looked for in all namespaces, or in the namespaces of --discovery-namespace', () => {
  const namespacesOf = (...args: string[]) =>
    builtInsOf(optionsOf(...args)).flatMap(
      ({ type, externalProvider }) => externalProvider?.({ name: 'x', type }).namespaces ?? [],
    );
  expect(namespacesOf()).toEqual([]);
  const named = ['monitoring', 'other'];
  expect(namespacesOf(...named.map((name) => `--discovery-namespace=${name}`))).toEqual([...named, ...named]);
});
