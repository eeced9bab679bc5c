import { expect, it } from 'vitest';
import { parseTrafficStackSpec } from './schema.ts';
import type { TrafficStack } from './trafficStack.ts';

const WORKLOAD = { kind: 'Deployment', namespace: 'shop', podTemplate: {} };
const WEIGHTS = { clusterName: 'cluster-a', backend: { static: { weight: 75 } } };
const LABELS = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`label-${n}`, 'x']));
const problemsOf = (...components: object[]): readonly string[] => {
  const named = components.map((each, index) => ({ name: `c${index}`, ...each }));
  const parsed = parseTrafficStackSpec({ spec: { components: named } } as unknown as TrafficStack);
  return 'problems' in parsed ? parsed.problems : [];
};

type Row = [why: string, components: object[], problem: RegExp | undefined];
const workloadRow = (kind: string, over: object, problem: RegExp | undefined): Row => [
  `a ${kind} with ${JSON.stringify(over)}`,
  [{ type: 'Workload', workload: { ...WORKLOAD, kind, ...over } }],
  problem,
];

const OBJECTS = {
  namespace: 'shop',
  manifests: [{ object: { apiVersion: 'v1', kind: 'ConfigMap' }, readyWhen: 'true' }],
};

it.each<Row>([
  [
    'built-in types need no settings',
    ['NodeExporter', 'Prometheus', 'ConnectivityServer', 'ConnectivityAgents'].map((type) => ({ type })),
    undefined,
  ],
  ['a Workload needs its workload', [{ type: 'Workload' }], /workload: must be set for the type Workload/],
  [
    'no other type has one',
    [{ type: 'NodeExporter', workload: WORKLOAD }],
    /workload: must be set for the type Workload/,
  ],
  ['Objects have manifests', [{ type: 'Objects' }], /objects: must be set for the type Objects/],
  ['no other type has manifests', [{ type: 'Rules', objects: OBJECTS }], /objects: must be set for the type Objects/],
  ['Objects have one at least', [{ type: 'Objects', objects: { ...OBJECTS, manifests: [] } }], /manifests is \[\]/],
  [
    'Objects cannot be External',
    [{ type: 'Objects', mode: 'Auto', objects: OBJECTS }],
    /mode: only the types Workload/,
  ],
  [
    'a stack may have several Objects',
    [
      { type: 'Objects', objects: OBJECTS },
      { name: 'b', type: 'Objects', objects: OBJECTS },
    ],
    undefined,
  ],
  [
    'settings are of their type',
    [{ type: 'Workload', workload: WORKLOAD, prometheus: {} }],
    /prometheus: only the type Prometheus has it/,
  ],
  [
    'the server and the agents have their own',
    [
      { type: 'ConnectivityServer', connectivityServer: { tolerations: [{ operator: 'Exists' }], nodeSelector: {} } },
      { type: 'ConnectivityAgents', connectivityAgents: { priorityClassName: 'high', nodeSelector: { a: 'b' } } },
    ],
    undefined,
  ],
  [
    'the server has none of the agents',
    [{ type: 'ConnectivityServer', connectivityAgents: {} }],
    /connectivityAgents: only the type ConnectivityAgents has it/,
  ],
  [
    'the agents have none of the server',
    [{ type: 'ConnectivityAgents', connectivityServer: {} }],
    /connectivityServer: only the type ConnectivityServer has it/,
  ],
  [
    'there is one server',
    [{ type: 'ConnectivityServer' }, { type: 'ConnectivityServer' }],
    /at most one component may have the type ConnectivityServer/,
  ],
  [
    'there are agents once',
    [{ type: 'ConnectivityAgents' }, { type: 'ConnectivityAgents' }],
    /at most one component may have the type ConnectivityAgents/,
  ],
  [
    'a built-in type is in a stack once, also if one is disabled',
    [{ type: 'NodeExporter' }, { type: 'NodeExporter', mode: 'Disabled' }],
    /at most one component may have the type NodeExporter/,
  ],
  [
    'no other built-in component may be External or Auto',
    [{ type: 'ConnectivityServer', mode: 'Auto' }],
    /mode: only the types Workload, NodeExporter, Prometheus and Weights may be External or Auto/,
  ],
  ['another owner may have created the node-exporter', [{ type: 'NodeExporter', mode: 'Auto' }], undefined],
  ['another owner may have created the Prometheus', [{ type: 'Prometheus', mode: 'External' }], undefined],
  ...(
    [
      ['NodeExporter', 'External', { kind: 'DaemonSet', namespace: 'monitoring', name: 'a' }, undefined],
      ['NodeExporter', 'External', { kind: 'Node' }, undefined],
      ['Prometheus', 'External', { kind: 'Service', namespace: 'monitoring', name: 'a' }, undefined],
      ['Prometheus', 'External', { url: 'https://prom.example.org/base' }, undefined],
      ['NodeExporter', 'Auto', { kind: 'Node' }, 'must be absent, unless mode is External'],
      ['NodeExporter', undefined, { kind: 'Node' }, 'must be absent, unless mode is External'],
      [
        'Weights',
        'External',
        { kind: 'Service', namespace: 'a', name: 'a' },
        'and the type is NodeExporter or Prometheus',
      ],
      ['NodeExporter', 'External', {}, 'must have the kind DaemonSet with namespace and name, or the kind Node alone'],
      ['NodeExporter', 'External', { kind: 'DaemonSet', name: 'a' }, 'must have the kind DaemonSet with namespace'],
      ['NodeExporter', 'External', { kind: 'Node', name: 'a' }, 'or the kind Node alone'],
      ['NodeExporter', 'External', { url: 'http://a' }, 'must have the kind DaemonSet with namespace'],
      ['Prometheus', 'External', { kind: 'Service', name: 'a' }, 'must have the kind Service with namespace and name'],
      ['Prometheus', 'External', { kind: 'Node' }, 'must have the kind Service with namespace and name'],
      ['Prometheus', 'External', { kind: 'Service', url: 'http://a' }, 'or a url alone'],
    ] as const
  ).map(([type, mode, external, message]): [string, object[], RegExp | undefined] => [
    `external of ${type}, ${mode}: ${JSON.stringify(external)}`,
    [{ type, mode, external }],
    message === undefined ? undefined : new RegExp(`^spec\\.components\\.0\\.external is .*${message}`),
  ]),
  [
    'external has a kind that exists',
    [{ type: 'Prometheus', mode: 'External', external: { kind: 'Pod', namespace: 'a', name: 'a' } }],
    /external\.kind is "Pod".*DaemonSet.*Service.*Node/,
  ],
  [
    'a URL has no user',
    [{ type: 'Prometheus', mode: 'External', external: { url: 'http://me:pw@a' } }],
    /external\.url is "http:\/\/me:pw@a": must be a URL with http or https, without user/,
  ],
  [
    'a workload with mode External needs no template',
    [{ type: 'Workload', mode: 'External', workload: { kind: 'Deployment', namespace: 'shop' } }],
    undefined,
  ],
  [
    'a workload with another mode needs a template',
    [{ type: 'Workload', workload: { kind: 'Deployment', namespace: 'shop' } }],
    /podTemplate is required unless mode is External/,
  ],
  workloadRow('Deployment', { strategy: { type: 'Recreate' }, minReadySeconds: 5 }, undefined),
  workloadRow('StatefulSet', { strategy: {} }, /strategy: only a Deployment has it/),
  workloadRow('Deployment', { updateStrategy: {} }, /updateStrategy: only a StatefulSet or DaemonSet has it/),
  workloadRow('DaemonSet', { updateStrategy: { type: 'OnDelete' } }, /updateStrategy\.type: must be RollingUpdate/),
  workloadRow('DaemonSet', { updateStrategy: { rollingUpdate: { maxSurge: 1 } } }, undefined),
  workloadRow('DaemonSet', { podManagementPolicy: 'Parallel' }, /podManagementPolicy: only a StatefulSet has it/),
  workloadRow('StatefulSet', { podManagementPolicy: 'Parallel' }, undefined),
  workloadRow('Deployment', { services: [{ ports: [{ port: 53, protocol: 'UDP' }] }] }, undefined),
  ['Weights have the spec of a TrafficWeight', [{ type: 'Weights', weights: WEIGHTS }], undefined],
  [
    'Weights with another mode than External need a spec',
    [{ type: 'Weights', mode: 'Auto' }],
    /weights is required for the type Weights unless mode is External/,
  ],
  ['Weights with mode External need no spec', [{ type: 'Weights', mode: 'External' }], undefined],
  [
    'a stack may have several Weights',
    [
      { type: 'Weights', weights: WEIGHTS },
      { type: 'Weights', weights: WEIGHTS },
    ],
    undefined,
  ],
  ['no other type has weights', [{ type: 'NodeExporter', weights: WEIGHTS }], /weights: only the type Weights has it/],
  [
    'the spec of Weights is checked like the spec of a TrafficWeight',
    [{ type: 'Weights', weights: { ...WEIGHTS, backend: {} } }],
    /weights\.backend is \{\}: must have exactly one field: static/,
  ],
  [
    'the namespaceSelector of Weights has few labels',
    [{ type: 'Weights', weights: { ...WEIGHTS, namespaceSelector: { matchLabels: LABELS } } }],
    /must have at most 5 labels/,
  ],
  [
    'Dashboards have labels and annotations of any kind',
    [{ type: 'Dashboards', dashboards: { namespace: 'monitoring', labels: { a: 'b' }, annotations: { c: 'd e' } } }],
    undefined,
  ],
  ['no other type has dashboards', [{ type: 'Prometheus', dashboards: {} }], /dashboards: only the type Dashboards/],
  [
    'Dashboards cannot be External',
    [{ type: 'Dashboards', mode: 'External' }],
    /mode: only the types Workload, NodeExporter, Prometheus and Weights may be External or Auto/,
  ],
  [
    'a stack has Dashboards once',
    [{ type: 'Dashboards' }, { type: 'Dashboards' }],
    /at most one component may have the type Dashboards/,
  ],
  ['no other type has rules', [{ type: 'Dashboards', rules: {} }], /rules: only the type Rules has it/],
  [
    'a Prometheus has its samples',
    [
      {
        type: 'Prometheus',
        prometheus: {
          ...{ scrapeInterval: '1m30s', retention: '1y2w3d4h5m6s', retentionSize: '8GB' },
          storage: { size: '1.5Gi', storageClassName: 'fast.ssd' },
        },
      },
    ],
    undefined,
  ],
  ['or a claim', [{ type: 'Prometheus', prometheus: { storage: { existingClaim: 'mine' } } }], undefined],
  ['or none', [{ type: 'Prometheus', prometheus: { storage: {} } }], undefined],
  ...Object.entries({
    'scrapeInterval is "121s"': { scrapeInterval: '121s' },
    'scrapeInterval is "1.5s"': { scrapeInterval: '1.5s' },
    'retention is "119m"': { retention: '119m' },
    'retention is "2"': { retention: '2' },
    'retention is "1h1d"': { retention: '1h1d' },
    'retentionSize is "8Gi"': { retentionSize: '8Gi' },
    'storage.size is "1023Mi"': { storage: { size: '1023Mi' } },
    'storage.size is "big"': { storage: { size: 'big' } },
    'storage.storageClassName is "A"': { storage: { size: '1Gi', storageClassName: 'A' } },
    'needs size, since': { storage: { storageClassName: 'fast' } },
    'one volume, one claim': { storage: { size: '1Gi', existingClaim: 'mine' } },
  }).map(([message, prometheus]): [string, object[], RegExp] => [
    `a setting of Prometheus is refused: ${message}`,
    [{ type: 'Prometheus', prometheus }],
    new RegExp(message),
  ]),
  [
    'the server and the agents have how they talk',
    [
      {
        type: 'ConnectivityServer',
        connectivityServer: { reportInterval: '2s', serviceType: 'NodePort', allowAnonymous: true },
      },
      { type: 'ConnectivityAgents', connectivityAgents: { reportInterval: '24h', peerPort: 9082 } },
    ],
    undefined,
  ],
  [
    'the type of a Service is one of two',
    [{ type: 'ConnectivityServer', connectivityServer: { serviceType: 'LoadBalancer' } }],
    /serviceType is "LoadBalancer".*ClusterIP.*NodePort/,
  ],
  [
    'an interval is two seconds at least',
    [{ type: 'ConnectivityAgents', connectivityAgents: { reportInterval: '1s' } }],
    /reportInterval is "1s": must be a duration in whole seconds from "2s" to "24h"/,
  ],
  [
    'the ignored devices are a pattern',
    [{ type: 'NodeExporter', nodeExporter: { ignoredDevices: 'veth(' } }],
    /ignoredDevices is "veth\(": must be a regular expression in the syntax of RE2/,
  ],
  ['a port is one', [{ type: 'NodeExporter', nodeExporter: { port: 0 } }], /nodeExporter\.port is 0/],
])('%s', (_, components, message) => {
  const problems = problemsOf(...components);
  if (message === undefined) expect(problems).toEqual([]);
  else expect(problems.join()).toMatch(message);
});
