import type { V1PolicyRule, V1ResourceQuota } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import type { Resource } from '../../src/runtime/client/resource.ts';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { CRDS } from '../harness/customResource.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { installPlacementPolicy } from '../harness/placementPolicy.ts';
import { CLUSTER_ROLES, userWith } from './rights.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** Faults of users and surroundings for TrafficWatches, on a real API server: rights that come late, swaps, an object without a spec. */
const WAIT = { timeout: 90_000, interval: 200 };

/** All that the operator does, but for the patch of nodes. */
const RULES: V1PolicyRule[] = [
  { apiGroups: ['traffic.example.com'], resources: ['*'], verbs: ['*'] },
  { apiGroups: ['apps', 'discovery.k8s.io'], resources: ['*'], verbs: ['*'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['*'] },
  {
    apiGroups: [''],
    resources: ['namespaces', 'pods', 'services', 'serviceaccounts', 'configmaps', 'persistentvolumeclaims'],
    verbs: ['*'],
  },
  { apiGroups: ['admissionregistration.k8s.io'], resources: ['*'], verbs: ['list'] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
];

const QUOTAS: Resource<V1ResourceQuota> = {
  ...{ group: '', version: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas', namespaced: true },
};

const ref = (name: string) => ({ namespace: 'default', name });

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  f.exporter.setPercent('n1', 50);
});
afterAll(async () => {
  await f.stop();
});

async function conditionOf(name: string, type: string) {
  return (await f.watch(name)).status?.conditions?.find((c) => c.type === type);
}

async function affinityOf(name: string): Promise<string> {
  const { spec } = await f.client.get(DEPLOYMENTS, ref(name));
  return JSON.stringify(spec?.template.spec?.affinity);
}

// missingRights.test.ts has the place where each missing right is reported.
describe('an operator that gets the right to patch nodes', () => {
  it('has written Deployment and status without it, and labels the nodes then', async () => {
    await f.startOperator([], { kubeconfig: await userWith(f, 'restricted', RULES) });
    await f.createWatch('web', { maxBandwidthPercent: '10' });
    await vi.waitFor(async () => {
      expect(await conditionOf('web', 'Reconciling')).toMatchObject({ status: 'True', reason: 'Forbidden' });
      expect((await f.watch('web')).status).toMatchObject({ fitNodes: 1, unfitNodes: 1 });
      expect(await affinityOf('web')).toContain(unfitKey('web'));
      expect((await f.events('web')).map(({ reason }) => reason)).toContain('Forbidden');
    }, WAIT);
    expect(await f.labels(unfitKey('web'))).toEqual({});
    const rules = [...RULES, { apiGroups: [''], resources: ['nodes'], verbs: ['patch'] }];
    await f.client.mergePatch(CLUSTER_ROLES, { name: 'restricted' }, { rules }, { fieldManager: 'person' });
    await vi.waitFor(async () => {
      expect(await f.labels(unfitKey('web'))).toEqual({ n1: 'true', n2: 'false' });
      expect(await conditionOf('web', 'Reconciling')).toMatchObject({ status: 'False', reason: 'UpToDate' });
    }, WAIT);
  });
});

describe('two TrafficWatches that swap their labels', () => {
  it('end with the right keys on all nodes and in both Deployments', async () => {
    await f.createWatch('low', { maxBandwidthPercent: '10', label: 'one' });
    await f.createWatch('high', { maxBandwidthPercent: '90', label: 'two' });
    await vi.waitFor(async () => {
      expect(await f.labels(unfitKey('one'))).toEqual({ n1: 'true', n2: 'false' });
      expect(await f.labels(unfitKey('two'))).toEqual({ n1: 'false', n2: 'false' });
      expect(await affinityOf('low')).toContain(unfitKey('one'));
      expect(await affinityOf('high')).toContain(unfitKey('two'));
    }, WAIT);
    await Promise.all([
      f.patchWatch('low', { spec: { label: 'two' } }),
      f.patchWatch('high', { spec: { label: 'one' } }),
    ]);
    await vi.waitFor(async () => {
      for (const [name, label] of [
        ['low', 'two'],
        ['high', 'one'],
      ] as const) {
        expect((await f.watch(name)).status).toMatchObject({ ready: true, labelKey: unfitKey(label) });
        expect(await conditionOf(name, 'Stalled')).toMatchObject({ status: 'False' });
        expect(await affinityOf(name)).toContain(unfitKey(label));
      }
      expect(await f.labels(unfitKey('two'))).toEqual({ n1: 'true', n2: 'false' });
      expect(await f.labels(unfitKey('one'))).toEqual({ n1: 'false', n2: 'false' });
    }, WAIT);
    expect(await affinityOf('low')).not.toContain(unfitKey('one'));
    expect(await affinityOf('high')).not.toContain(unfitKey('two'));
  });
});

/** A quota that allows no further object of these kinds. No controller counts here, so the test writes the status. */
async function allowNone(...kinds: readonly string[]): Promise<void> {
  const hard = Object.fromEntries(kinds.map((kind) => [`count/${kind}`, '0']));
  await f.client.create(QUOTAS, { metadata: ref('none'), spec: { hard } });
  const options = { fieldManager: 'person', subresource: 'status' };
  await f.client.mergePatch(QUOTAS, ref('none'), { status: { hard, used: hard } }, options);
}

describe('a ResourceQuota that refuses what a TrafficWatch needs', () => {
  it('ends Ready, with the words of the API server, until it allows that', async () => {
    const spec = { maxBandwidthPercent: '10' };
    await installPlacementPolicy(f.client);
    await allowNone('deployments.apps', 'podplacements.traffic.example.com');
    await f.createWatch('full', spec);
    await f.createWatch('placed', { ...spec, podSelector: { matchLabels: { app: 'placed' } } });
    await vi.waitFor(async () => {
      const refused = { status: 'False', observedGeneration: 1 };
      expect(await conditionOf('full', 'Ready')).toMatchObject({
        ...{ ...refused, reason: 'Forbidden' },
        message: expect.stringContaining(
          'Deployment full: deployments.apps "full" is forbidden: exceeded quota: none',
        ) as string,
      });
      expect(await conditionOf('placed', 'Ready')).toMatchObject({
        ...{ ...refused, reason: 'PlacementNotWritten' },
        message: expect.stringContaining('"traffic-operator" is forbidden: exceeded quota: none') as string,
      });
    }, WAIT);
    await f.client.delete(QUOTAS, ref('none'));
    await vi.waitFor(async () => {
      for (const name of ['full', 'placed']) expect((await f.watch(name)).status?.ready).toBe(true);
    }, WAIT);
    expect(await affinityOf('full')).toContain(unfitKey('full'));
  });
});

describe('a TrafficWatch without a spec, let through by another CRD', () => {
  it('is InvalidSpec, and keeps neither labels nor sweep of the others from going on', async () => {
    await f.stopOperator();
    const crd = await f.client.get(CRDS, { name: 'trafficwatches.traffic.example.com' });
    const versions = structuredClone(crd.spec.versions);
    const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    versions[0]!.schema = { openAPIV3Schema: anything };
    const write = (to: unknown) =>
      f.client.mergePatch(CRDS, { name: crd.metadata!.name! }, { spec: { versions: to } }, { fieldManager: 'person' });
    await write(versions);
    const bare = (name: string) => f.client.create(TRAFFIC_WATCHES, { metadata: ref(name) } as TrafficWatch);
    await vi.waitFor(() => bare('bare'), WAIT);
    await write(crd.spec.versions);
    await vi.waitFor(() => expect(bare(`bare-${performance.now()}`)).rejects.toMatchObject({ status: 422 }), WAIT);
    await f.startOperator();
    await f.createWatch('nearby', { maxBandwidthPercent: '10' });
    await vi.waitFor(async () => expect(await f.labels(unfitKey('nearby'))).toEqual({ n1: 'true', n2: 'false' }), WAIT);
    await f.stopOperator();
    await f.patchWatch('nearby', { metadata: { finalizers: null } });
    await f.client.delete(TRAFFIC_WATCHES, ref('nearby'));
    await f.startOperator();
    await vi.waitFor(async () => expect(await f.labels(unfitKey('nearby'))).toEqual({}), WAIT);
    await vi.waitFor(async () => {
      expect(await conditionOf('bare', 'Stalled')).toMatchObject({ status: 'True', reason: 'InvalidSpec' });
    }, WAIT);
  });
});
