import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import {
  TRAFFIC_WEIGHTS,
  type TrafficWeight,
  type TrafficWeightSpec,
} from '../../../src/api/trafficweight/trafficWeight.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { writesOf } from '../../harness/audit.ts';
import { installCrd, trafficWeightCrd } from '../../harness/customResource.ts';
import { dnsEndpointCrd } from '../../harness/externalDns.ts';
import { Ingresses } from '../weights/ingresses.ts';
import { component, PERSON, stackRights, startScene, unusedRights, WAIT, type StackScene } from './scene.ts';

/** A TrafficWeight as a component of a stack, with the controllers of both. */
const USER = 'stack-weights';
const RIGHTS = stackRights('stacks', 'weights');
let s: StackScene;
let ingresses: Ingresses;

beforeAll(async () => {
  s = await startScene(USER, { args: ['--weights'], rights: (all) => [...all, ...RIGHTS] });
  await installCrd(s.f.client, trafficWeightCrd(), TRAFFIC_WEIGHTS);
  await installCrd(s.f.client, await dnsEndpointCrd(), DNS_ENDPOINTS);
  ingresses = new Ingresses(s.f.client);
  await ingresses.deploy('shop');
  await s.startOperator();
});
afterAll(() => s.stop());

const spec = (weight: number, over: Partial<TrafficWeightSpec> = {}): TrafficWeightSpec => ({
  ...{ clusterName: 'cluster-a', bindingDomain: 'example.org', backend: { static: { weight } } },
  acknowledge: 'Applied',
  ...over,
});
const dns = (weights: TrafficWeightSpec | undefined = spec(75), over: Partial<ComponentSpec> = {}): ComponentSpec => ({
  ...{ name: 'dns', type: 'Weights', dependsOn: ['db'], weights },
  ...over,
});
const db = component('db');
const web = component('web', { dependsOn: ['dns'] });
const web2 = component('web', { dependsOn: ['dns'], image: 'web:2' });

const weightNow = (name = 'dns'): Promise<TrafficWeight> => s.f.client.get(TRAFFIC_WEIGHTS, { name });
const weightIsGone = (name = 'dns') => vi.waitFor(() => expect(weightNow(name)).rejects.toSatisfy(isNotFound), WAIT);
const inventory = async () => (await s.stack()).status?.inventory?.map((entry) => entry.component);
const records = () => ingresses.weights('shop');
/** What the operator wrote to TrafficWeights and workloads, after so many writes. */
const writesAfter = (count: number): string[] =>
  all()
    .slice(count)
    .map(({ verb, resource, name }) => `${verb} ${resource}/${name}`);
const all = () =>
  writesOf(s.f.controlPlane, USER).filter(({ resource }) => /^(trafficweights|deployments)$/.test(resource));

it('is created when all that it depends on is ready', async () => {
  s.kubelet.faults.set('db', { reason: 'CrashLoopBackOff', message: 'back-off restarting' });
  await s.create('main', [web, dns(spec(75, { acknowledge: 'Observed' })), db]);
  await s.becomes('dns', { state: 'Waiting', waitingOn: { component: 'db' } });
  await expect(weightNow()).rejects.toSatisfy(isNotFound);
  s.kubelet.faults.delete('db');
  await vi.waitFor(async () => {
    const { metadata, spec: found } = await weightNow();
    expect(found).toEqual(spec(75, { acknowledge: 'Observed' }));
    expect(metadata?.labels).toMatchObject({ [STACK_LABEL]: 'main', [COMPONENT_LABEL]: 'dns' });
    expect(metadata?.ownerReferences).toMatchObject([{ kind: 'TrafficStack', name: 'main', controller: true }]);
  }, WAIT);
});

it('is as its condition Ready says, which others wait for by name', async () => {
  const message =
    'TrafficWeight dns: external-dns has not read 1 of 1 DNSEndpoints as they are, the first default/shop.';
  await s.becomes('dns', { state: 'Progressing', reason: 'NotObservedYet', message });
  await s.becomes('web', {
    ...{ state: 'Waiting', blockedBy: ['dns'] },
    waitingOn: { component: 'dns', what: 'TrafficWeight dns', observed: `Progressing: ${message}` },
  });
  expect(await s.workloads()).toEqual(['db']);
  expect(await records()).toEqual({ 'shop.example.org': '75' });
});

it('is ready when the weight is in force, and what depends on it starts then', async () => {
  await s.change('main', [web, dns(), db]);
  await s.ready();
  const { metadata, status } = await weightNow();
  expect(status).toMatchObject({ observedGeneration: metadata?.generation, currentWeight: 75 });
  expect(await s.component('dns')).toMatchObject({
    ...{ type: 'Weights', state: 'Ready', reason: 'InForce' },
    message: 'TrafficWeight dns: The weight 75 is in force.',
  });
  expect(writesAfter(0)).toEqual([
    'patch deployments/db',
    'patch trafficweights/dns',
    'patch trafficweights/dns',
    'patch deployments/web',
  ]);
});

it('has a changed weight of the stack, before what depends on it is changed', async () => {
  const before = all().length;
  const { metadata } = await weightNow();
  await s.change('main', [web2, dns(spec(40)), db]);
  await s.ready();
  const after = await weightNow();
  expect([after.metadata?.uid, after.spec, after.status?.currentWeight]).toEqual([metadata?.uid, spec(40), 40]);
  expect(await records()).toEqual({ 'shop.example.org': '40' });
  expect(writesAfter(before)).toEqual(['patch trafficweights/dns', 'patch deployments/web']);
});

it('is corrected if somebody changes or deletes it', async () => {
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

it('is Degraded while an Ingress cannot have its records, and what depends on it stays', async () => {
  const before = all().length;
  const endpoints = [{ dnsName: 'x.example.org', recordType: 'A', targets: ['192.0.2.9'] }];
  await s.f.client.create(DNS_ENDPOINTS, { metadata: { name: 'api', namespace: 'default' }, spec: { endpoints } });
  await ingresses.deploy('api');
  await s.becomes('dns', { state: 'Degraded', reason: 'ForeignDNSEndpoint' });
  expect((await s.component('dns'))?.message).toContain('DNSEndpoint default/api');
  expect(await s.component('web')).toMatchObject({ state: 'Ready' });
  await ingresses.delete('api');
  await s.ready();
  expect(writesAfter(before)).toEqual([]);
});

it('of somebody else is refused, or used as it is', async () => {
  await s.change('main', [
    web2,
    dns(spec(40)),
    db,
    dns(undefined, { name: 'theirs', mode: 'External', dependsOn: [] }),
  ]);
  await s.becomes('theirs', {
    ...{ state: 'Progressing', reason: 'ExternalMissing', mode: 'External' },
    message: 'TrafficWeight theirs does not exist: with the mode External, another owner creates it',
  });
  const theirs = { metadata: { name: 'theirs' }, spec: spec(7, { bindingDomain: 'example.net' }) };
  const made = await s.f.client.create(TRAFFIC_WEIGHTS, theirs, PERSON);
  await s.ready();
  expect(await s.component('theirs')).toMatchObject({
    ...{ mode: 'External', state: 'Ready' },
    message: 'TrafficWeight theirs: The weight 7 is in force.',
  });
  await s.change('main', [web2, dns(spec(40)), db, dns(spec(8), { name: 'theirs', dependsOn: [] })]);
  await s.becomes('theirs', {
    ...{ state: 'Failed', reason: 'ForeignObject' },
    message:
      'TrafficWeight theirs exists and is not of this stack, but of the field manager person: it is left as it is',
  });
  await s.change('main', [web2, dns(spec(40)), db]);
  await s.ready();
  const { metadata, spec: found } = await weightNow('theirs');
  expect([metadata?.generation, metadata?.labels, found]).toEqual([1, undefined, made.spec]);
});

it('is removed before what it depends on, when nothing that depends on it is left', async () => {
  const before = all().length;
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  await weightIsGone();
  expect(writesAfter(before)).toEqual(['delete deployments/web', 'delete trafficweights/dns', 'delete deployments/db']);
  // As with each TrafficWeight that is deleted.
  expect(await records()).toEqual({ 'shop.example.org': '40' });
});

it('is no component while DNS weights are switched off, and is removed when they are on again', async () => {
  await s.create('main', [web, dns(), db]);
  await s.ready();
  await s.f.stopOperator();
  await s.f.startOperator(['--stacks'], { kubeconfig: s.kubeconfig });
  await vi.waitFor(async () => {
    expect(await s.condition('Stalled')).toMatchObject({
      ...{ status: 'True', reason: 'InvalidComponents' },
      message: 'component dns: without --weights (weights.enabled in the chart), nobody gives records their weights',
    });
  }, WAIT);
  await s.change('main', [db]);
  await s.ready();
  expect(await inventory()).toEqual(['db', 'dns']);
  expect((await weightNow()).spec).toEqual(spec(75));
  await s.restartOperator();
  await weightIsGone();
  await vi.waitFor(async () => expect(await inventory()).toEqual(['db']), WAIT);
  await s.ready();
});

it('does not hold a stack up that is deleted while DNS weights are switched off', async () => {
  await s.change('main', [dns(), db]);
  await s.ready();
  await s.f.stopOperator();
  await s.f.startOperator(['--stacks'], { kubeconfig: s.kubeconfig });
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  await weightIsGone();
});

it('uses each of its rights on TrafficWeights', () => {
  // An apply that creates an object needs the right, and is a patch.
  expect(unusedRights(s, USER, (resource) => resource === 'trafficweights', RIGHTS)).toEqual(['create trafficweights']);
});
