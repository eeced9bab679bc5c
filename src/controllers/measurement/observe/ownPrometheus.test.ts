import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { Observed } from '../../../runtime/objectSet/plan.ts';
import type { Component } from '../components/component.ts';
import type { PrometheusClient, InstantQuery } from '../../../prometheus/prometheusClient.ts';
import { allComponents } from '../components/components.ts';
import { foreignServer, askingOnlyOurs, askingOnlyTrusted, readForeignServer } from './ownPrometheus.ts';
import { defaultMeasurementOptions } from '../options.ts';
import { FakeApi } from '../../../runtime/testing/fakeApi/fakeApi.ts';

const THEIRS: KubeObject = { metadata: { name: 'prometheus', labels: { app: 'theirs' } } };

/** All components as ours, except that objects of this group and kind belong to another owner. */
function observed(part?: string, kind?: string): Observed<Component>[] {
  return allComponents(defaultMeasurementOptions('ops')).map((component) => {
    const isTheirs = component.group === part && component.resource.kind === kind;
    return { member: component, live: isTheirs ? THEIRS : component.object };
  });
}

describe('foreignServer', () => {
  it.each(['Service', 'Deployment'])('names a foreign %s with the name of ours, and what to do', (kind) => {
    const problem = foreignServer(observed('prometheus', kind));
    expect(problem).toContain(`${kind} ops/prometheus was not made by this operator`);
    expect(problem).toContain('--prometheus-url');
  });

  it.each([
    { group: undefined, kind: undefined, why: 'all objects are ours' },
    { group: 'prometheus', kind: 'ServiceAccount', why: 'no query depends on a ServiceAccount' },
    { group: 'exporter', kind: 'Service', why: 'the exporter is not queried' },
  ])('ignores a foreign $group $kind: $why', ({ group, kind }) => {
    expect(foreignServer(observed(group, kind))).toBeUndefined();
  });

  it.each([
    ['TrafficStack', 'Service', {}, false],
    ['TrafficStack', 'Deployment', {}, false],
    // A Workload of a stack may have this name.
    ['TrafficStack', 'Service', { 'app.kubernetes.io/component': 'x' }, true],
    ['TrafficWatch', 'Deployment', {}, true],
  ])('of a %s that controls the %s with labels %j', (kind, which, labels, isForeign) => {
    const owner = { apiVersion: 'traffic.example.com/v1alpha1', kind, name: 'main', uid: 'u', controller: true };
    const all = observed().map(({ member, live }) => {
      const metadata = {
        ...live?.metadata,
        labels: { ...live?.metadata?.labels, ...labels },
        ownerReferences: [owner],
      };
      return { member, live: member.resource.kind === which ? { ...live, metadata } : live };
    });
    expect(foreignServer(all) !== undefined).toBe(isForeign);
  });

  it('is undefined before any object exists', () => {
    const none = observed().map(({ member }) => ({ member, live: undefined }));
    expect(foreignServer(none)).toBeUndefined();
  });
});

describe('askingOnlyOurs', () => {
  it('does not query a foreign Prometheus, and queries ours again when that is deleted', async () => {
    const asked: string[] = [];
    let closed = false;
    let foreign: string | undefined = 'Service ops/prometheus is not ours';
    const inner: PrometheusClient = {
      query: ({ expression }) => {
        asked.push(expression);
        return Promise.resolve({ warnings: [], infos: [], series: 0 });
      },
      close: () => void (closed = true),
    };
    const client = askingOnlyOurs(inner, () => foreign);
    const query = { expression: 'up' } as InstantQuery;
    await expect(client.query(query)).rejects.toMatchObject({ reason: 'BadConfiguration', message: foreign });
    expect(asked).toEqual([]);
    foreign = undefined;
    await client.query(query);
    expect(asked).toEqual(['up']);
    client.close();
    expect(closed).toBe(true);
  });
});

describe('askingOnlyTrusted', () => {
  const FOUND = { kind: 'Service', namespace: 'shop', name: 'fake', url: 'http://fake.shop.svc:9090' };

  it.each([
    ['that a tenant may have made', FOUND, /^Service shop\/fake may belong to a tenant.*discovery\.namespaces/],
    ['in a namespace that the administrator names', { ...FOUND, namespace: 'monitoring' }, undefined],
    ['in the namespace of the operator', { ...FOUND, namespace: 'ops' }, undefined],
    ['of the operator', undefined, undefined],
  ])('asks a Prometheus %s only if it may decide about gates', async (_, used, problem) => {
    let asked = 0;
    const inner = { query: () => Promise.resolve({ warnings: [], infos: [], series: ++asked }) };
    const client = askingOnlyTrusted(inner, () => used, ['ops', 'monitoring']);
    const answer = client.query({ expression: 'up' } as InstantQuery);
    await (problem === undefined ? answer : expect(answer).rejects.toThrow(problem));
    expect(asked).toBe(problem === undefined ? 1 : 0);
  });
});

describe('readForeignServer', () => {
  const named = (kind: string, labels: Record<string, string>): KubeObject => ({
    kind,
    metadata: { namespace: 'ops', name: 'prometheus', labels },
  });
  const ours = { 'app.kubernetes.io/managed-by': 'traffic-operator' };

  it.each<[string, KubeObject[], string | undefined]>([
    ['nothing where there is none yet', [], undefined],
    ['nothing of the operator', [named('Service', ours), named('Deployment', ours)], undefined],
    ['the Deployment of another owner', [named('Service', ours), named('Deployment', {})], 'Deployment ops/prometheus'],
    [
      'nothing of another namespace',
      [{ ...named('Service', {}), metadata: { ...THEIRS.metadata, namespace: 'b' } }],
      undefined,
    ],
  ])('finds %s', async (_, objects, problem) => {
    const found = await readForeignServer(new FakeApi(...objects), 'ops');
    expect(found?.split(' was not made by this operator')[0]).toBe(problem);
  });
});
