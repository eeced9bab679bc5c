import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import type { KubeObject } from '../../../src/runtime/client/resource.ts';
import { PROMETHEUS_RULES } from '../../../src/runtime/client/resources.ts';
import { writesOf } from '../../harness/audit.ts';
import { CRDS, installCrd, prometheusRuleCrd } from '../../harness/customResource.ts';
import { component, expectRefused, PERSON, startScene, unusedRights, WAIT, type StackScene } from './scene.ts';

/** The rules of the project as a component of a stack, in a cluster that has no Prometheus operator at first. */
const USER = 'stack-rules';
const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const GROUPS = (parse(read('charts/traffic-operator/files/rules.yml')) as { groups: object[] }).groups;
const REF = { namespace: 'default', name: 'traffic-operator' };
let s: StackScene;

interface PrometheusRule extends KubeObject {
  spec: { groups: object[] };
}

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
});
afterAll(() => s.stop());

const db = component('db');
const web = component('web', { dependsOn: ['rules'] });
const rules = (over: Partial<ComponentSpec> = {}): ComponentSpec => ({
  ...{ name: 'rules', type: 'Rules', dependsOn: ['db'], rules: { namespace: 'default' } },
  ...over,
});
const now = () => s.f.client.get(PROMETHEUS_RULES, REF) as Promise<PrometheusRule>;
const becomes = (wanted: object) => s.becomes('rules', wanted);
const writes = (): string[] =>
  writesOf(s.f.controlPlane, USER).flatMap(({ verb, resource, name, code }) =>
    /^(prometheusrules|deployments)$/.test(resource) && code < 300 ? [`${verb} ${resource}/${name}`] : [],
  );
const MISSING = {
  reason: 'WriteFailed',
  message:
    'PrometheusRule default/traffic-operator: the API server does not serve prometheusrules.monitoring.coreos.com: its CRD is not installed',
};

it('without the CRD of the Prometheus operator is told, and nothing else waits', async () => {
  await s.create('main', [rules(), db, component('other')]);
  await becomes({ state: 'Progressing', ...MISSING });
  await vi.waitFor(async () => expect(await s.component('other')).toMatchObject({ state: 'Ready' }), WAIT);
  expect(await s.workloads()).toEqual(['db', 'other']);
  expect((await fetch(`${s.f.operator().healthUrl}/readyz`)).status).toBe(200);
});

it('is Failed at its deadline, and is made when the CRD is there, before what depends on it', async () => {
  await s.change('main', [rules({ deadline: '5s' }), db, web]);
  await becomes({ state: 'Failed', message: expect.stringContaining('its CRD is not installed') as unknown });
  await installCrd(s.f.client, prometheusRuleCrd(), PROMETHEUS_RULES);
  await s.ready();
  expect(await s.component('rules')).toMatchObject({ state: 'Ready', message: '1 of 1 objects are applied' });
  const made = writes().filter((each) => /prometheusrules|web/.test(each));
  expect(made).toEqual(['patch prometheusrules/traffic-operator', 'patch deployments/web']);
});

it('has the rules of the chart, and is of the stack', async () => {
  const { metadata, spec } = await now();
  expect(spec.groups).toEqual(GROUPS);
  expect(metadata?.labels).toMatchObject({ [STACK_LABEL]: 'main', [COMPONENT_LABEL]: 'rules' });
  expect(metadata?.ownerReferences).toMatchObject([{ kind: 'TrafficStack', name: 'main', controller: true }]);
});

it('is corrected if somebody changes or deletes it', async () => {
  await s.f.client.mergePatch(PROMETHEUS_RULES, REF, { spec: { groups: [] } }, PERSON);
  await vi.waitFor(async () => expect((await now()).spec.groups).toEqual(GROUPS), WAIT);
  const uid = (await now()).metadata?.uid;
  await s.f.client.delete(PROMETHEUS_RULES, REF);
  await vi.waitFor(async () => {
    const { metadata, spec } = await now();
    expect([spec.groups, metadata?.uid === uid]).toEqual([GROUPS, false]);
  }, WAIT);
  await s.ready();
});

it('has the labels of the stack', async () => {
  await s.change('main', [rules({ rules: { namespace: 'default', labels: { release: 'monitoring' } } }), db, web]);
  await s.ready();
  expect((await now()).metadata?.labels).toMatchObject({ release: 'monitoring', [STACK_LABEL]: 'main' });
});

it('of a second stack is refused', () =>
  expectRefused(s, rules({ dependsOn: [] }), { object: 'PrometheusRule default/traffic-operator' }));

it('is deleted in the order of the dependencies', async () => {
  const before = writes().length;
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  expect(writes().slice(before)).toEqual([
    'delete deployments/web',
    'delete prometheusrules/traffic-operator',
    'delete deployments/db',
  ]);
});

it('does not hold a stack up that is deleted when the CRD is gone', async () => {
  await s.create('main', [rules(), db]);
  await s.ready();
  await s.f.client.delete(CRDS, { name: 'prometheusrules.monitoring.coreos.com' });
  await vi.waitFor(() => expect(now()).rejects.toSatisfy(isNotFound), WAIT);
  await becomes(MISSING);
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
});

it('uses each of its rights on PrometheusRules', () => {
  // An apply that creates an object needs the right, and is a patch.
  expect(unusedRights(s, USER, (resource) => resource === 'prometheusrules')).toEqual(['create prometheusrules']);
});
