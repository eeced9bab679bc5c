import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS, type TrafficStack } from '../../../src/api/trafficstack/trafficStack.ts';
import { installCrd, trafficStackCrd } from '../../harness/customResource.ts';
import { startFixture, type Fixture } from '../../harness/fixture.ts';
import { kubectl } from '../../harness/kubectl.ts';
import { component } from './scene.ts';

/** What kubectl says about the fields of a TrafficStack. */
let f: Fixture;

beforeAll(async () => {
  f = await startFixture({ nodes: [] });
  await installCrd(f.client, trafficStackCrd(), TRAFFIC_STACKS);
});
afterAll(() => f.stop());

const explain = (...args: string[]) => kubectl(f.controlPlane, ['explain', ...args]);
const COMPONENT = 'trafficstack.spec.components';

it.each<[field: string, texts: readonly string[]]>([
  ['mode', ['ENUM: Managed External Auto Disabled', 'Default: Managed']],
  ['deadline', ['Default: "10m"']],
  ['prometheus.retention', ['2h at least', 'Default: that of the operator']],
  ['prometheus.storage', ['{} is an emptyDir', 'existingClaim\t<string>']],
  ['nodeExporter.ignoredDevices', ['syntax of RE2']],
  ['connectivityServer.serviceType', ['ENUM: ClusterIP NodePort']],
  ['ready.query', ['PromQL', 'none is 0 or NaN']],
  ['ready.expression', ['CEL that gives a bool']],
  ['workload.kind', ['ENUM: Deployment StatefulSet DaemonSet']],
  ['workload.config.files', ['CEL expression over self, components.NAME']],
  // The fields of Kubernetes, in its own words.
  ['workload.podTemplate', ['metadata\t<Object>', 'spec\t<Object>']],
  ['workload.podTemplate.spec.containers.resources', ['Limits describes the maximum amount of compute']],
  // As of a TrafficWeight.
  ['weights.backend.static', ['weight\t<integer> -required-', 'from 0 to 255']],
  ['workload.volumeClaimTemplates.spec', ['accessModes', 'storageClassName']],
])('kubectl explain of %s', async (field, texts) => {
  await vi.waitFor(async () => {
    const text = await explain(`${COMPONENT}.${field}`);
    // Lines are broken anywhere between words.
    const oneLine = text.replaceAll(/[^\S\t]+/g, ' ');
    for (const each of texts) expect(oneLine).toContain(each);
  }, 90_000);
});

it('each field of the object, but for those of Kubernetes, has a description', async () => {
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
const twice = (type: string): object[] => ['a', 'b'].map((name) => ({ name, type }));

it.each<[components: object[], message: RegExp]>([
  [[{ name: 'web', type: 'Workload' }], /components\[0\]: Invalid value: .*must be set for the type Workload/],
  [[{ ...web, ...exporter() }], /components\[0\]: Invalid value: .*must be set for the type Workload/],
  [[exporter({ prometheus: {} })], /components\[0\]: Invalid value: .*only the type Prometheus has it/],
  [[{ ...web, nodeExporter: {} }], /components\[0\]: Invalid value: .*only the type NodeExporter has it/],
  [
    [{ name: 's', type: 'ConnectivityServer', mode: 'External' }],
    /components\[0\]: Invalid value: .*only the types Workload, NodeExporter, Prometheus and Weights may be External/,
  ],
  [[exporter({ connectivityAgents: {} })], /components\[0\]: .*only the type ConnectivityAgents has it/],
  [[exporter({ connectivityServer: {} })], /components\[0\]: .*only the type ConnectivityServer has it/],
  [twice('ConnectivityServer'), /spec\.components: .*at most one component may have the type ConnectivityServer/],
  [twice('ConnectivityAgents'), /spec\.components: .*at most one component may have the type ConnectivityAgents/],
  [[exporter(), exporter({ name: 'other' })], /spec\.components: Invalid value: .*at most one component may have/],
  [[weights(undefined)], /components\[0\]: .*weights is required for the type Weights unless mode is External/],
  [[exporter({ dashboards: {} })], /components\[0\]: .*only the type Dashboards has it/],
  [[exporter({ rules: {} })], /components\[0\]: .*only the type Rules has it/],
  [twice('Rules'), /spec\.components: .*at most one component may have the type Rules/],
  [twice('Dashboards'), /spec\.components: .*at most one component may have the type Dashboards/],
  [
    [{ name: 'x', type: 'Dashboards', mode: 'Auto' }],
    /components\[0\]: .*only the types Workload, NodeExporter, Prometheus and Weights may be/,
  ],
  [
    [{ name: 'x', type: 'Dashboards', dashboards: { namespace: 'No' } }],
    /components\[0\]\.dashboards\.namespace: Invalid value: .*lower-case letters/,
  ],
  [[exporter({ weights: WEIGHTS })], /components\[0\]: .*only the type Weights has it/],
  [
    [weights({ ...WEIGHTS, backend: {} })],
    /components\[0\]\.weights\.backend: Invalid value: .*exactly one field: static/,
  ],
  [
    [weights({ ...WEIGHTS, bindingDomain: '..example.org' })],
    /weights\.bindingDomain: Invalid value: .*must be a domain in lower case/,
  ],
  [[weights({ ...WEIGHTS, ramp: {} })], /components\[0\]\.weights\.ramp\.step: Required value/],
  [[exporter({ nodeExporter: { port: 70_000 } })], /nodeExporter\.port: Invalid value: 70000/],
  [[prometheus({ scrapeInterval: '121s' })], /prometheus\.scrapeInterval: .*whole seconds from "1s" to "2m"/],
  [[prometheus({ scrapeInterval: '1.5s' })], /prometheus\.scrapeInterval: .*whole seconds from "1s" to "2m"/],
  [[prometheus({ retention: '1h1d' })], /prometheus\.retention: .*must be a duration of Prometheus, 2h at least/],
  [[prometheus({ retention: '' })], /prometheus\.retention: .*should be at least 2 chars long/],
  [[prometheus({ retentionSize: '8Gi' })], /prometheus\.retentionSize: .*such as "512MB" or "8GB"/],
  [[prometheus({ storage: { size: '1023Mi' } })], /prometheus\.storage\.size: .*must be a quantity of 1Gi at least/],
  [[prometheus({ storage: { size: 'big' } })], /prometheus\.storage\.size: .*must be a quantity of 1Gi at least/],
  [[prometheus({ storage: { storageClassName: 'fast' } })], /prometheus\.storage: .*storageClassName: needs size/],
  [
    [prometheus({ storage: { size: '1Gi', existingClaim: 'mine' } })],
    /prometheus\.storage: .*not both: one volume, one claim/,
  ],
  [
    [{ name: 's', type: 'ConnectivityServer', connectivityServer: { serviceType: 'LoadBalancer' } }],
    /connectivityServer\.serviceType: Unsupported value: "LoadBalancer": supported values: "ClusterIP", "NodePort"/,
  ],
  [
    [{ name: 'a', type: 'ConnectivityAgents', connectivityAgents: { reportInterval: '1s' } }],
    /connectivityAgents\.reportInterval: .*whole seconds from "2s" to "24h"/,
  ],
])('the API server refuses a component, case %#', async (components, message) => {
  await expect(
    f.client.create(TRAFFIC_STACKS, { metadata: { name: 'wrong' }, spec: { components } } as TrafficStack),
  ).rejects.toThrow(message);
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

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}
