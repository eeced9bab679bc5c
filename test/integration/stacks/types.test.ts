import { readFileSync } from 'node:fs';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { dashboards } from '../../../dashboards/all.ts';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import {
  TRAFFIC_WEIGHTS,
  type TrafficWeight,
  type TrafficWeightSpec,
} from '../../../src/api/trafficweight/trafficWeight.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import type { KubeObject } from '../../../src/runtime/client/resource.ts';
import { CONFIG_MAPS, PROMETHEUS_RULES } from '../../../src/runtime/client/resources.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { writesOf } from '../../harness/audit.ts';
import { CRDS, installCrd, prometheusRuleCrd, trafficWeightCrd } from '../../harness/customResource.ts';
import { dnsEndpointCrd } from '../../harness/externalDns.ts';
import { startOperator, type Operator } from '../../harness/operator.ts';
import { Ingresses } from '../weights/ingresses.ts';
import {
  component,
  expectRefused,
  PERSON,
  stackRights,
  startScene,
  unusedRights,
  USER,
  WAIT,
  type StackScene,
} from './scene.ts';

/** Components without pods: Dashboards, Rules and Weights. At first, the cluster has no Prometheus operator. */
const RIGHTS = stackRights('stacks', 'weights');
const DASHBOARDS = Object.keys(dashboards()).sort();
const RULES_FILE = new URL('../../../charts/traffic-operator/files/rules.yml', import.meta.url);
const GROUPS = (parse(readFileSync(RULES_FILE, 'utf8')) as { groups: object[] }).groups;
const RULES = { namespace: 'default', name: 'traffic-operator' };
let s: StackScene;
let ingresses: Ingresses;
/** The process that gives the records their weights. */
let weightsProcess: Operator;

beforeAll(async () => {
  s = await startScene(USER, { args: ['--weights'], rights: (all) => [...all, ...RIGHTS] });
  await installCrd(s.f.client, trafficWeightCrd(), TRAFFIC_WEIGHTS);
  await installCrd(s.f.client, await dnsEndpointCrd(), DNS_ENDPOINTS);
  ingresses = new Ingresses(s.f.client);
  await ingresses.deploy('shop');
  await s.startOperator();
  const { kubeconfig } = s.f.controlPlane;
  weightsProcess = await startOperator({ kubeconfig, prometheusUrl: s.f.prometheusUrl, command: 'trafficweights' });
});
afterAll(async () => {
  await weightsProcess.kill();
  await s.stop();
});

const db = component('db');
const gone = () => vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
const remove = async () => {
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await gone();
};
/** The writes of the operator to workloads and to these, from then on; several writes to one kind in a row are one. */
const writesTo = (plural: string, since: number): string[] => {
  const all = writesOf(s.f.controlPlane, USER).flatMap(({ verb, resource, name, code, at }) => {
    if (at < since || code >= 300) return [];
    if (resource === plural) return [`${verb} ${plural}`];
    return resource === 'deployments' ? [`${verb} ${name}`] : [];
  });
  return all.filter((each, index) => each !== all[index - 1]);
};
const ofStack = (name: string) => ({
  labels: { [STACK_LABEL]: 'main', [COMPONENT_LABEL]: name },
  ownerReferences: [{ kind: 'TrafficStack', name: 'main', controller: true }],
});

describe('Dashboards', () => {
  const nameOf = (dashboard: string): string => `traffic-operator-dashboard-${dashboard}`;
  const NODES = { namespace: 'default', name: nameOf('nodes') };
  const web = component('web', { dependsOn: ['boards'] });
  const boards = (over: Partial<ComponentSpec> = {}): ComponentSpec => ({
    ...{ name: 'boards', type: 'Dashboards', dependsOn: ['db'], dashboards: { namespace: 'default' } },
    ...over,
  });
  const one = (): Promise<V1ConfigMap> => s.f.client.get(CONFIG_MAPS, NODES);
  const dashboardsIn = async (namespace = 'default') => {
    const all = await s.f.client.list<V1ConfigMap>(CONFIG_MAPS, { namespace });
    const names = all.flatMap(({ metadata }) => metadata?.name ?? []).filter((name) => name.startsWith(nameOf('')));
    return names.map((name) => name.slice(nameOf('').length)).sort();
  };

  it('are created when all that they depend on is ready, what depends on them after them, as Grafana looks for them', async () => {
    const since = Date.now();
    s.kubelet.faults.set('db', { reason: 'CrashLoopBackOff', message: 'back-off restarting' });
    await s.create('main', [web, boards(), db]);
    await s.becomes('boards', { state: 'Waiting', waitingOn: { component: 'db' } });
    expect(await dashboardsIn()).toEqual([]);
    s.kubelet.faults.delete('db');
    await s.ready();
    expect(await dashboardsIn()).toEqual(DASHBOARDS);
    expect(await s.component('boards')).toMatchObject({ type: 'Dashboards', state: 'Ready', reason: 'AllApplied' });
    expect(writesTo('configmaps', since)).toEqual(['patch db', 'patch configmaps', 'patch web']);
    const { metadata, data = {} } = await one();
    expect(metadata).toMatchObject(ofStack('boards'));
    expect(metadata?.labels).toMatchObject({ grafana_dashboard: '1' });
    const content = JSON.parse(data['traffic-operator-nodes.json'] ?? '') as object;
    expect(content).toEqual(JSON.parse(JSON.stringify(dashboards().nodes)));
  });

  it('are corrected if somebody changes or deletes one', async () => {
    const { data, metadata } = await one();
    await s.f.client.mergePatch(CONFIG_MAPS, NODES, { data: { 'traffic-operator-nodes.json': '{}' } }, PERSON);
    await vi.waitFor(async () => expect((await one()).data).toEqual(data), WAIT);
    await s.f.client.delete(CONFIG_MAPS, NODES);
    await vi.waitFor(async () => {
      const again = await one();
      expect([again.data, again.metadata?.uid === metadata?.uid]).toEqual([data, false]);
    }, WAIT);
  });

  it('move to another namespace, and objects of another owner, as of the chart, are unchanged until they are gone', async () => {
    await s.change('main', [web, boards({ dashboards: { namespace: 'kube-public' } }), db]);
    await s.ready();
    expect(await dashboardsIn('kube-public')).toEqual(DASHBOARDS);
    await vi.waitFor(async () => expect(await dashboardsIn()).toEqual([]), WAIT);
    const metadata = { ...NODES, labels: { 'app.kubernetes.io/managed-by': 'Helm' } };
    const made = await s.f.client.create(CONFIG_MAPS, { metadata, data: { x: 'y' } }, PERSON);
    await s.change('main', [web, boards(), db]);
    await s.becomes('boards', {
      ...{ state: 'Failed', reason: 'ForeignObject' },
      message: `ConfigMap default/${NODES.name} exists and is not of this stack, but of the field manager person: it is left as it is`,
    });
    expect((await one()).metadata?.resourceVersion).toBe(made.metadata?.resourceVersion);
    await s.f.client.delete(CONFIG_MAPS, NODES);
    await s.ready();
    expect(await dashboardsIn()).toEqual(DASHBOARDS);
    await vi.waitFor(async () => expect(await dashboardsIn('kube-public')).toEqual([]), WAIT);
  });

  it('are deleted with the stack, in the order of the dependencies', async () => {
    const since = Date.now();
    await remove();
    expect(writesTo('configmaps', since)).toEqual(['delete web', 'delete configmaps', 'delete db']);
    expect(await dashboardsIn()).toEqual([]);
  });
});

describe('Rules', () => {
  const MISSING = {
    reason: 'WriteFailed',
    message:
      'PrometheusRule default/traffic-operator: the API server does not serve prometheusrules.monitoring.coreos.com: its CRD is not installed',
  };
  const web = component('web', { dependsOn: ['rules'] });
  const rules = (over: Partial<ComponentSpec> = {}): ComponentSpec => ({
    ...{ name: 'rules', type: 'Rules', dependsOn: ['db'], rules: { namespace: 'default' } },
    ...over,
  });
  const now = () => s.f.client.get(PROMETHEUS_RULES, RULES) as Promise<KubeObject & { spec: { groups: object[] } }>;

  it('without the CRD of the Prometheus operator are reported, and nothing else waits', async () => {
    await s.create('main', [rules(), db, component('other')]);
    await s.becomes('rules', { state: 'Progressing', ...MISSING });
    await s.becomes('other', { state: 'Ready' });
    expect(await s.workloads()).toEqual(['db', 'other']);
    expect((await fetch(`${s.f.operator().healthUrl}/readyz`)).status).toBe(200);
  });

  it('are made when the CRD is there, as in the chart, before what depends on them', async () => {
    const since = Date.now();
    await s.change('main', [rules(), db, web]);
    await installCrd(s.f.client, prometheusRuleCrd(), PROMETHEUS_RULES);
    await s.ready();
    expect(await s.component('rules')).toMatchObject({ state: 'Ready', message: '1 of 1 objects are applied' });
    const made = writesTo('prometheusrules', since).filter((each) => each.startsWith('patch'));
    expect(made).toEqual(['patch prometheusrules', 'patch web']);
    const { metadata, spec } = await now();
    expect([spec.groups, metadata]).toMatchObject([GROUPS, ofStack('rules')]);
  });

  it('are corrected if somebody changes or deletes them, and refused to a second stack', async () => {
    await s.f.client.mergePatch(PROMETHEUS_RULES, RULES, { spec: { groups: [] } }, PERSON);
    await vi.waitFor(async () => expect((await now()).spec.groups).toEqual(GROUPS), WAIT);
    const uid = (await now()).metadata?.uid;
    await s.f.client.delete(PROMETHEUS_RULES, RULES);
    await vi.waitFor(async () => {
      const { metadata, spec } = await now();
      expect([spec.groups, metadata?.uid === uid]).toEqual([GROUPS, false]);
    }, WAIT);
    await expectRefused(s, rules({ dependsOn: [] }), { object: 'PrometheusRule default/traffic-operator' });
  });

  it('are deleted in the order of the dependencies', async () => {
    const since = Date.now();
    await remove();
    expect(writesTo('prometheusrules', since)).toEqual(['delete web', 'delete prometheusrules', 'delete db']);
  });

  it('do not hold a stack up that is deleted when the CRD is gone', async () => {
    await s.create('main', [rules(), db]);
    await s.ready();
    await s.f.client.delete(CRDS, { name: 'prometheusrules.monitoring.coreos.com' });
    await vi.waitFor(() => expect(now()).rejects.toSatisfy(isNotFound), WAIT);
    await s.becomes('rules', MISSING);
    await remove();
  });
});

describe('Weights', () => {
  const spec = (weight: number, over: Partial<TrafficWeightSpec> = {}): TrafficWeightSpec => ({
    ...{ clusterName: 'cluster-a', bindingDomain: 'example.org', backend: { static: { weight } } },
    acknowledge: 'Applied',
    ...over,
  });
  const dns = (weights: TrafficWeightSpec | undefined = spec(75), over: Partial<ComponentSpec> = {}) =>
    ({ name: 'dns', type: 'Weights', dependsOn: ['db'], weights, ...over }) satisfies ComponentSpec;
  const web = component('web', { dependsOn: ['dns'] });
  const web2 = component('web', { dependsOn: ['dns'], image: 'web:2' });
  const weightNow = (name = 'dns'): Promise<TrafficWeight> => s.f.client.get(TRAFFIC_WEIGHTS, { name });
  const weightIsGone = () => vi.waitFor(() => expect(weightNow()).rejects.toSatisfy(isNotFound), WAIT);
  const inventory = async () => (await s.stack()).status?.inventory?.map((entry) => entry.component);
  const records = () => ingresses.weights('shop');

  it('are as their condition Ready says, which others wait for by name', async () => {
    await s.create('main', [web, dns(spec(75, { acknowledge: 'Observed' })), db]);
    const message =
      'TrafficWeight dns: external-dns has not read 1 of 1 DNSEndpoints as they are, the first default/shop.';
    await s.becomes('dns', { state: 'Progressing', reason: 'NotObservedYet', message });
    await s.becomes('web', {
      ...{ state: 'Waiting', blockedBy: ['dns'] },
      waitingOn: { component: 'dns', what: 'TrafficWeight dns', observed: `Progressing: ${message}` },
    });
    expect([await s.workloads(), await records()]).toEqual([['db'], { 'shop.example.org': '75' }]);
    expect((await weightNow()).metadata).toMatchObject(ofStack('dns'));
    await s.change('main', [web, dns(), db]);
    await s.ready();
    expect(await s.component('dns')).toMatchObject({
      ...{ type: 'Weights', state: 'Ready', reason: 'InForce' },
      message: 'TrafficWeight dns: The weight 75 is in force.',
    });
  });

  it('have a changed weight of the stack, before what depends on them is changed', async () => {
    const since = Date.now();
    const { metadata } = await weightNow();
    await s.change('main', [web2, dns(spec(40)), db]);
    await s.ready();
    const after = await weightNow();
    expect([after.metadata?.uid, after.spec, after.status?.currentWeight]).toEqual([metadata?.uid, spec(40), 40]);
    expect(await records()).toEqual({ 'shop.example.org': '40' });
    expect(writesTo('trafficweights', since)).toEqual(['patch trafficweights', 'patch web']);
  });

  it('are corrected if somebody changes or deletes them', async () => {
    await s.f.client.mergePatch(TRAFFIC_WEIGHTS, { name: 'dns' }, { spec: spec(1) }, PERSON);
    await vi.waitFor(async () => expect((await weightNow()).spec).toEqual(spec(40)), WAIT);
    const uid = (await weightNow()).metadata?.uid;
    await s.f.client.delete(TRAFFIC_WEIGHTS, { name: 'dns' });
    await vi.waitFor(async () => {
      const { metadata, spec: found, status } = await weightNow();
      // The stack is not ready again before the new one is in force.
      expect([found, metadata?.uid === uid, status?.currentWeight]).toEqual([spec(40), false, 40]);
    }, WAIT);
    await s.ready();
  });

  it('stay Ready while an Ingress cannot have its records, which their message says, and what depends on them stays', async () => {
    const since = Date.now();
    const endpoints = [{ dnsName: 'x.example.org', recordType: 'A', targets: ['192.0.2.9'] }];
    await s.f.client.create(DNS_ENDPOINTS, { metadata: { name: 'api', namespace: 'default' }, spec: { endpoints } });
    await ingresses.deploy('api');
    const message = expect.stringContaining('Single namespaces have problems: see IngressesAccepted') as string;
    await s.becomes('dns', { state: 'Ready', message });
    expect(await s.component('web')).toMatchObject({ state: 'Ready' });
    await ingresses.delete('api');
    await s.ready();
    expect(writesTo('trafficweights', since)).toEqual([]);
  });

  it('of another owner are used as they are, and never removed', async () => {
    const theirs = dns(undefined, { name: 'theirs', mode: 'External', dependsOn: [] });
    await s.change('main', [web2, dns(spec(40)), db, { ...theirs, weights: undefined }]);
    await s.becomes('theirs', { state: 'Progressing', reason: 'ExternalMissing', mode: 'External' });
    const made = await s.f.client.create(
      TRAFFIC_WEIGHTS,
      { metadata: { name: 'theirs' }, spec: spec(7, { bindingDomain: 'example.net' }) },
      PERSON,
    );
    await s.ready();
    expect(await s.component('theirs')).toMatchObject({
      ...{ mode: 'External', state: 'Ready', message: 'TrafficWeight theirs: The weight 7 is in force.' },
    });
    const since = Date.now();
    await remove();
    await weightIsGone();
    expect(writesTo('trafficweights', since)).toEqual(['delete web', 'delete trafficweights', 'delete db']);
    const { metadata, spec: found } = await weightNow('theirs');
    expect([metadata?.generation, metadata?.labels, found]).toEqual([1, undefined, made.spec]);
    // As with each TrafficWeight that is deleted.
    expect(await records()).toEqual({ 'shop.example.org': '40' });
  });

  it('are no component while DNS weights are switched off, and do not hold up a stack that is deleted then', async () => {
    await s.create('main', [web, dns(), db]);
    await s.ready();
    await s.f.stopOperator();
    await s.f.startOperator(['--stacks'], { kubeconfig: s.kubeconfig });
    await vi.waitFor(async () => {
      expect(await s.condition('Stalled')).toMatchObject({
        ...{ status: 'True', reason: 'InvalidComponents' },
        message: 'component dns: DNS weights are switched off; set weights.enabled=true in the chart (flag --weights)',
      });
    }, WAIT);
    await s.change('main', [db]);
    await s.ready();
    expect([await inventory(), (await weightNow()).spec]).toEqual([['db', 'dns'], spec(75)]);
    await remove();
    await weightIsGone();
  });
});

it('uses each of its rights on PrometheusRules and TrafficWeights', () => {
  const isOfTypes = (resource: string): boolean => ['prometheusrules', 'trafficweights'].includes(resource);
  // An apply that creates an object needs the right, and is a patch.
  const rules = [...stackRights(), ...RIGHTS];
  const unseen = ['create prometheusrules', 'create trafficweights'];
  expect([...new Set(unusedRights(s, USER, isOfTypes, rules))].sort()).toEqual(unseen);
});
