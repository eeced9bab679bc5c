import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS, type TrafficStack } from '../../../src/api/trafficstack/trafficStack.ts';
import { installCrd, trafficStackCrd } from '../../harness/customResource.ts';
import { startFixture, type Fixture } from '../../harness/fixture.ts';
import { kubectl } from '../../harness/kubectl.ts';
import { applyObjects, kubectl as kubectlOfLab } from '../../scenario/kubectl.ts';
import { leftovers } from '../../scenario/stackLeftovers.ts';
import { component } from './scene.ts';

/** Tests the output of kubectl for the fields of a TrafficStack. */
let f: Fixture;

beforeAll(async () => {
  f = await startFixture({ nodes: [] });
  await installCrd(f.client, trafficStackCrd(), TRAFFIC_STACKS);
});
afterAll(() => f.stop());

const explain = (...args: string[]) => kubectl(f.controlPlane, ['explain', ...args]);
const COMPONENT = 'trafficstack.spec.components';

it('kubectl explain has the texts and the defaults of each field', async () => {
  const texts: Readonly<Record<string, readonly string[]>> = {
    mode: ['ENUM: Managed External Auto Disabled', 'Default: Managed'],
    deadline: ['Default: "10m"'],
    'prometheus.retention': ['2h at least', 'Default: the flag of the operator'],
    'prometheus.storage': ['{} is an emptyDir', 'existingClaim\t<string>'],
    'ready.query': ['PromQL', 'none is 0 or NaN'],
    'workload.kind': ['ENUM: Deployment StatefulSet DaemonSet'],
    'workload.config.files': ['CEL expression over self, components.NAME'],
    // The fields of Kubernetes, in its own words.
    'workload.podTemplate.spec.containers.resources': ['Limits describes the maximum amount of compute'],
    // As of a TrafficWeight.
    'weights.backend.static': ['weight\t<integer> -required-', 'from 0 to 255'],
  };
  for (const [field, wanted] of Object.entries(texts)) {
    await vi.waitFor(async () => {
      // Lines are broken anywhere between words.
      const oneLine = (await explain(`${COMPONENT}.${field}`)).replaceAll(/[^\S\t]+/g, ' ');
      for (const each of wanted) expect(oneLine, field).toContain(each);
    }, 90_000);
  }
});

it('each field of the object, except the fields of Kubernetes, has a description', async () => {
  const { spec } = trafficStackCrd();
  const lacking = (node: Schema, path: string): string[] => {
    if (/podTemplate|volumeClaimTemplates|tolerations/.test(path)) return [];
    const fields = Object.entries(node.properties ?? {}).flatMap(([name, field]) => {
      const own = field.description === undefined ? [`${path}.${name}`] : [];
      return [...own, ...lacking(field, `${path}.${name}`)];
    });
    return [...fields, ...(node.items === undefined ? [] : lacking(node.items, `${path}[]`))];
  };
  const schema = spec.versions[0]?.schema?.openAPIV3Schema as Schema;
  // The API server describes these three itself.
  expect(lacking(schema, '')).toEqual(['.apiVersion', '.kind', '.metadata']);
  expect(await explain('trafficstack', '--recursive')).toContain('waitingOn');
});

const web = component('web');
const exporter = (over: object = {}) => ({ name: 'exporter', type: 'NodeExporter', ...over });

const prometheus = (settings: object) => ({ name: 'prometheus', type: 'Prometheus', prometheus: settings });

const WEIGHTS = { clusterName: 'cluster-a', backend: { static: { weight: 75 } } };
const weights = (spec: object | undefined) => ({ name: 'dns', type: 'Weights', ...(spec && { weights: spec }) });

/** A spec that is wrong in one place, and why the API server refuses it. */
interface WrongSpec {
  readonly why: string;
  readonly spec: object;
  readonly message: RegExp;
}
const withComponents = (...components: object[]): object => ({ components });
const workload = (over: object): object => withComponents({ ...web, workload: { ...web.workload, ...over } });
const config = (over: object): object =>
  workload({ config: [{ name: 'etc', mountPath: '/etc/web', files: {}, ...over }] });
const only = (type: string): RegExp => new RegExp(`components\\[0\\]: .*only the type ${type} has it`);
const once = (type: string): RegExp =>
  new RegExp(`spec\\.components: .*at most one component may have the type ${type}`);

/** The specs that the API server itself can refuse: the whole table is in src/api/trafficstack/specSchema.test.ts. */
const WRONG: readonly WrongSpec[] = [
  {
    why: 'a Workload needs its workload',
    spec: withComponents({ name: 'web', type: 'Workload' }),
    message: /components\[0\]: Invalid value: .*must be set for the type Workload/,
  },
  {
    why: 'no other type has one',
    spec: withComponents({ ...web, ...exporter() }),
    message: /components\[0\]: Invalid value: .*must be set for the type Workload/,
  },
  {
    why: 'a workload needs a template, unless it is External',
    spec: withComponents({ ...web, mode: 'Auto', workload: { kind: 'Deployment', namespace: 'default' } }),
    message: /podTemplate is required unless mode is External/,
  },
  {
    why: 'only a Deployment has a strategy',
    spec: workload({ kind: 'DaemonSet', strategy: {} }),
    message: /strategy: only/,
  },
  {
    why: 'the other kinds have updateStrategy',
    spec: workload({ updateStrategy: {} }),
    message: /updateStrategy: only/,
  },
  {
    why: 'a change must end',
    spec: workload({ kind: 'DaemonSet', updateStrategy: { type: 'Recreate' } }),
    message: /updateStrategy\.type: must be RollingUpdate/,
  },
  {
    why: 'pods have an order',
    spec: workload({ podManagementPolicy: 'Parallel' }),
    message: /only a StatefulSet has it/,
  },
  {
    why: 'Objects have manifests',
    spec: withComponents({ name: 'edge', type: 'Objects' }),
    message: /objects: must be set for the type Objects/,
  },
  {
    why: 'which are objects of Kubernetes',
    spec: withComponents({
      name: 'edge',
      type: 'Objects',
      objects: { namespace: 'default', manifests: [{ object: {} }] },
    }),
    message: /manifests\[0\]\.object\.kind: Required value/,
  },
  { why: 'settings are of one type', spec: withComponents(exporter({ prometheus: {} })), message: only('Prometheus') },
  {
    why: 'external needs the mode External',
    spec: withComponents(exporter({ mode: 'Auto', external: { kind: 'Node' } })),
    message: /components\[0\]\.external: Invalid value: .*must be absent, unless mode is External/,
  },
  {
    why: 'external of a NodeExporter is a DaemonSet, or on the nodes',
    spec: withComponents(exporter({ mode: 'External', external: { url: 'http://a' } })),
    message: /components\[0\]\.external: Invalid value: .*must have the kind DaemonSet with namespace and name/,
  },
  {
    why: 'external of a Prometheus is a Service, or a URL',
    spec: withComponents({ name: 'p', type: 'Prometheus', mode: 'External', external: { kind: 'Service', name: 'a' } }),
    message: /components\[0\]\.external: Invalid value: .*must have the kind Service with namespace and name/,
  },
  {
    why: 'settings are of one type',
    spec: withComponents({ ...web, nodeExporter: {} }),
    message: only('NodeExporter'),
  },
  {
    why: 'settings are of one type',
    spec: withComponents(exporter({ connectivityAgents: {} })),
    message: only('ConnectivityAgents'),
  },
  {
    why: 'settings are of one type',
    spec: withComponents(exporter({ connectivityServer: {} })),
    message: only('ConnectivityServer'),
  },
  { why: 'settings are of one type', spec: withComponents(exporter({ dashboards: {} })), message: only('Dashboards') },
  { why: 'settings are of one type', spec: withComponents(exporter({ rules: {} })), message: only('Rules') },
  { why: 'settings are of one type', spec: withComponents(exporter({ weights: WEIGHTS })), message: only('Weights') },
  ...['ConnectivityServer', 'ConnectivityAgents', 'NodeExporter', 'Rules', 'Dashboards'].map((type) => ({
    why: `a stack has ${type} once`,
    spec: withComponents({ name: 'a', type }, { name: 'b', type }),
    message: once(type),
  })),
  {
    why: 'no other owner can have made Dashboards',
    spec: withComponents({ name: 'x', type: 'Dashboards', mode: 'Auto' }),
    message: /components\[0\]: .*only the types Workload, NodeExporter, Prometheus and Weights may be External/,
  },
  {
    why: 'a namespace has lower-case letters',
    spec: withComponents({ name: 'x', type: 'Dashboards', dashboards: { namespace: 'No' } }),
    message: /components\[0\]\.dashboards\.namespace: Invalid value: .*lower-case letters/,
  },
  {
    why: 'Weights need the spec of their TrafficWeight',
    spec: withComponents(weights(undefined)),
    message: /components\[0\]: .*weights is required for the type Weights unless mode is External/,
  },
  {
    why: 'a TrafficWeight has a backend',
    spec: withComponents(weights({ ...WEIGHTS, backend: {} })),
    message: /components\[0\]\.weights\.backend: Invalid value: .*exactly one field: static/,
  },
  {
    why: 'a domain has no empty label',
    spec: withComponents(weights({ ...WEIGHTS, bindingDomain: '..example.org' })),
    message: /weights\.bindingDomain: Invalid value: .*must be a domain in lower case/,
  },
  {
    why: 'a ramp has steps',
    spec: withComponents(weights({ ...WEIGHTS, ramp: {} })),
    message: /components\[0\]\.weights\.ramp\.step: Required value/,
  },
  {
    why: 'a port has 16 bits',
    spec: withComponents(exporter({ nodeExporter: { port: 70_000 } })),
    message: /nodeExporter\.port: Invalid value: 70000/,
  },
  ...[
    {
      why: 'it is too long',
      settings: { scrapeInterval: '121s' },
      message: /scrapeInterval: .*whole seconds from "1s" to/,
    },
    { why: 'units go down', settings: { retention: '1h1d' }, message: /retention: .*a duration of Prometheus, 2h at/ },
    { why: 'it is empty', settings: { retention: '' }, message: /retention: .*should be at least 2 chars long/ },
    { why: 'it has units of ten', settings: { retentionSize: '8Gi' }, message: /retentionSize: .*such as "512MB" or/ },
    {
      why: 'it is small',
      settings: { storage: { size: '1023Mi' } },
      message: /storage\.size: .*a quantity of 1Gi at least/,
    },
    {
      why: 'a class is of a claim that is made',
      settings: { storage: { storageClassName: 'fast' } },
      message: /prometheus\.storage: .*storageClassName: needs size/,
    },
    {
      why: 'there is one volume',
      settings: { storage: { size: '1Gi', existingClaim: 'mine' } },
      message: /prometheus\.storage: .*not both: one volume, one claim/,
    },
  ].map(({ why, settings, message }) => ({
    why: `of a Prometheus: ${why}`,
    spec: withComponents(prometheus(settings)),
    message,
  })),
  {
    why: 'no load balancer is asked for',
    spec: withComponents({
      name: 's',
      type: 'ConnectivityServer',
      connectivityServer: { serviceType: 'LoadBalancer' },
    }),
    message: /serviceType: Unsupported value: "LoadBalancer": supported values: "ClusterIP", "NodePort"/,
  },
  {
    why: 'agents refuse what is shorter than 2 s',
    spec: withComponents({ name: 'a', type: 'ConnectivityAgents', connectivityAgents: { reportInterval: '1s' } }),
    message: /connectivityAgents\.reportInterval: .*whole seconds from "2s" to "24h"/,
  },
  {
    why: 'a level is one of a few',
    spec: { common: { logLevel: 'loud' }, components: [web] },
    message: /spec\.common\.logLevel: Unsupported value: "loud": .*"debug"/,
  },
  {
    why: 'the name of a Secret is one',
    spec: { common: { imagePullSecrets: [{ name: 'A' }] }, components: [web] },
    message: /imagePullSecrets\[0\]\.name: Invalid value: .*1 to 253 lower-case/,
  },
  {
    why: 'the number of pods comes from somewhere',
    spec: { highAvailability: {}, components: [web] },
    message: /spec\.highAvailability: Invalid value: .*must have replicas, or a nodeSelector/,
  },
  {
    why: 'there is one pod at least',
    spec: { highAvailability: { replicas: 0 }, components: [web] },
    message: /spec\.highAvailability\.replicas: Invalid value: 0: .*1/,
  },
  {
    why: 'a label has no blank in its key',
    spec: { highAvailability: { replicas: 1, topologyKey: 'a b' }, components: [web] },
    message: /topologyKey: Invalid value: .*the key of a label of nodes/,
  },
  {
    why: 'a condition has one of two',
    spec: withComponents({ ...web, ready: {} }),
    message: /components\[0\]\.ready: Invalid value: .*must have an expression or a query/,
  },
  {
    why: 'a query is not empty',
    spec: withComponents({ ...web, ready: { query: '' } }),
    message: /components\[0\]\.ready\.query: Invalid value: "": .*at least 1/,
  },
  {
    why: 'a DaemonSet counts nodes',
    spec: workload({ kind: 'DaemonSet', replicas: 1 }),
    message: /workload: Invalid value: .*must be absent for a DaemonSet/,
  },
  {
    why: 'a Deployment has no claims of its own',
    spec: workload({ volumeClaimTemplates: [{ spec: {} }] }),
    message: /workload: Invalid value: .*only a StatefulSet has them/,
  },
  {
    why: 'a policy is one of two',
    spec: workload({ volumeClaimPolicy: 'Keep' }),
    message: /volumeClaimPolicy: Unsupported value: "Keep": .*"Retain", "Delete"/,
  },
  {
    why: 'a folder is part of the name of a ConfigMap',
    spec: config({ name: 'Etc' }),
    message: /config\[0\]\.name: Invalid value: .*1 to 50 lower-case letters/,
  },
  {
    why: 'it is mounted at one path',
    spec: config({ mountPath: 'etc' }),
    message: /config\[0\]\.mountPath: Invalid value: .*must be an absolute path/,
  },
  { why: 'it has files', spec: config({ files: undefined }), message: /config\[0\]\.files: Required value/ },
];

it('the API server refuses what is wrong, with the field, its value and what is allowed', async () => {
  for (const { why, spec, message } of WRONG) {
    const created = f.client.create(TRAFFIC_STACKS, { metadata: { name: 'wrong' }, spec } as TrafficStack);
    await expect(created, why).rejects.toThrow(message);
  }
});

it('the API server takes a stack with several TrafficWeights', async () => {
  const components = ['a', 'b'].map((name) => ({ ...weights(WEIGHTS), name }));
  const stack = { metadata: { name: 'several' }, spec: { components } } as TrafficStack;
  expect((await f.client.create(TRAFFIC_STACKS, stack)).spec.components).toEqual(components);
});

it('the API server takes what the flags may say of a Prometheus', async () => {
  const settings = [
    { scrapeInterval: '90s', retention: '1w12h', retentionSize: '5120MB', storage: { size: '1.5Gi' } },
    { storage: { existingClaim: 'mine' } },
    { storage: {} },
  ];
  for (const [index, each] of settings.entries()) {
    const stack = { metadata: { name: `samples-${index}` }, spec: { components: [prometheus(each)] } } as TrafficStack;
    expect((await f.client.create(TRAFFIC_STACKS, stack)).spec.components).toEqual([prometheus(each)]);
  }
});

describe('what a removal has left', () => {
  const labels = { 'traffic.example.com/stack': 'opensdn' };
  const own = { namespace: 'contrail' };
  /** Objects that a removal might leave, and how they are named. */
  const LEFT = {
    'TrafficStack opensdn': {
      ...{ apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficStack', metadata: { name: 'opensdn' } },
      spec: { components: [] },
    },
    'ConfigMap contrail/a': { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...own } },
    'Service contrail/b': {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'b', ...own } },
      spec: { clusterIP: 'None', ports: [{ port: 80 }] },
    },
    'PersistentVolumeClaim contrail/c': {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c', ...own } },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
    },
    'PodDisruptionBudget contrail/d': {
      ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'd', ...own } },
      spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
    },
    'ControllerRevision contrail/e': {
      ...{ apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'e', ...own } },
      ...{ revision: 1, data: {} },
    },
    'ConfigMap default/f': {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'f', namespace: 'default', labels } },
    },
    'PriorityClass g': {
      ...{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'g', labels } },
      value: 1,
    },
  };
  const directory = mkdtempSync(`${tmpdir()}/leftovers-`);

  beforeAll(async () => {
    copyFileSync(f.controlPlane.kubeconfig, `${directory}/kubeconfig`);
    vi.stubEnv('TRAFFIC_LAB_DIR', directory);
    await kubectlOfLab('create', 'namespace', 'contrail');
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(directory, { recursive: true });
  });

  it('is the stack, any object with its label, and any in its namespace', async () => {
    await kubectlOfLab('create', 'configmap', 'of-somebody', '-n', 'default');
    const binding = 'traffic-operator-system-traffic-operator-stacks';
    await kubectlOfLab(
      'create',
      'rolebinding',
      binding,
      '-n',
      'contrail',
      '--clusterrole=view',
      '--group=of-the-chart',
    );
    expect(await leftovers('opensdn', 'contrail')).toEqual([]);
    await applyObjects(Object.values(LEFT));
    expect((await leftovers('opensdn', 'contrail')).toSorted()).toEqual(Object.keys(LEFT).toSorted());
  });
});

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}
