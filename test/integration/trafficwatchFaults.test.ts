import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { V1PolicyRule } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { CRDS } from '../harness/customResource.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { CLUSTER_ROLES, userWith } from './rights.ts';

/** What users and surroundings do to TrafficWatches, on a real API server: rights missing, swaps, a server that hangs. */
const WAIT = { timeout: 90_000, interval: 200 };

/** All that the operator does, but for the patch of nodes. */
const RULES: V1PolicyRule[] = [
  { apiGroups: ['traffic.example.com'], resources: ['*'], verbs: ['*'] },
  { apiGroups: ['apps', 'discovery.k8s.io'], resources: ['*'], verbs: ['*'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['*'] },
  { apiGroups: [''], resources: ['namespaces', 'pods', 'services', 'serviceaccounts', 'configmaps'], verbs: ['*'] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
];

const key = (label: string): string => `${label}.traffic.example.com/unfit`;
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

async function reasonsOf(name: string): Promise<(string | undefined)[]> {
  return (await f.events(name)).map((event) => event.reason);
}

async function affinityOf(name: string): Promise<string> {
  const { spec } = await f.client.get(DEPLOYMENTS, ref(name));
  return JSON.stringify(spec?.template.spec?.affinity);
}

describe('an operator without the right to patch nodes', () => {
  it('names verb and resource, and still writes Deployment and status', async () => {
    await f.startOperator([], { kubeconfig: await userWith(f, 'restricted', RULES) });
    await f.createWatch('web', { maxBandwidthPercent: '10' });
    await vi.waitFor(async () => {
      const reconciling = await conditionOf('web', 'Reconciling');
      expect(reconciling).toMatchObject({ status: 'True', reason: 'Forbidden' });
      expect(reconciling?.message).toContain('cannot patch resource "nodes"');
      expect((await f.watch('web')).status).toMatchObject({ fitNodes: 1, unfitNodes: 1 });
      expect(await affinityOf('web')).toContain(key('web'));
    }, WAIT);
    expect(await f.labels(key('web'))).toEqual({});
    await vi.waitFor(async () => expect(await reasonsOf('web')).toContain('Forbidden'), WAIT);
  });

  it('labels them once it has it', async () => {
    const rules = [...RULES, { apiGroups: [''], resources: ['nodes'], verbs: ['patch'] }];
    await f.client.mergePatch(CLUSTER_ROLES, { name: 'restricted' }, { rules }, { fieldManager: 'person' });
    await vi.waitFor(async () => {
      expect(await f.labels(key('web'))).toEqual({ n1: 'true', n2: 'false' });
      expect(await conditionOf('web', 'Reconciling')).toMatchObject({ status: 'False', reason: 'UpToDate' });
    }, WAIT);
  });
});

describe('a threshold of 100', () => {
  it('is told to find a node unfit only beyond its capacity', async () => {
    await f.restartOperator();
    await f.createWatch('never', { maxBandwidthPercent: '100' });
    await vi.waitFor(async () => expect(await reasonsOf('never')).toContain('ThresholdAtCapacity'), WAIT);
    await f.client.delete(TRAFFIC_WATCHES, ref('never'));
  });
});

describe('two TrafficWatches that swap their labels', () => {
  it('end with the right keys on all nodes and in both Deployments', async () => {
    await f.createWatch('low', { maxBandwidthPercent: '10', label: 'one' });
    await f.createWatch('high', { maxBandwidthPercent: '90', label: 'two' });
    await vi.waitFor(async () => {
      expect(await f.labels(key('one'))).toEqual({ n1: 'true', n2: 'false' });
      expect(await f.labels(key('two'))).toEqual({ n1: 'false', n2: 'false' });
      expect(await affinityOf('low')).toContain(key('one'));
      expect(await affinityOf('high')).toContain(key('two'));
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
        expect((await f.watch(name)).status).toMatchObject({ ready: true, labelKey: key(label) });
        expect(await conditionOf(name, 'Stalled')).toMatchObject({ status: 'False' });
        expect(await affinityOf(name)).toContain(key(label));
      }
      expect(await f.labels(key('two'))).toEqual({ n1: 'true', n2: 'false' });
      expect(await f.labels(key('one'))).toEqual({ n1: 'false', n2: 'false' });
    }, WAIT);
    expect(await affinityOf('low')).not.toContain(key('one'));
    expect(await affinityOf('high')).not.toContain(key('two'));
  });
});

describe('a rename whose Deployment cannot be written', () => {
  it('has both keys follow the traffic', async () => {
    await f.createWatch('stuck', { maxBandwidthPercent: '10' });
    await vi.waitFor(async () => expect(await affinityOf('stuck')).toContain(key('stuck')), WAIT);
    const labels = { app: 'other' };
    const deployment = { selector: { matchLabels: labels }, template: { metadata: { labels } } };
    await f.patchWatch('stuck', { spec: { label: 'moved', deployment } });
    await vi.waitFor(async () => expect(await f.labels(key('moved'))).toEqual({ n1: 'true', n2: 'false' }), WAIT);
    f.exporter.setPercent('n2', 60);
    await vi.waitFor(async () => {
      expect(await f.labels(key('moved'))).toEqual({ n1: 'true', n2: 'true' });
      expect(await f.labels(key('stuck'))).toEqual({ n1: 'true', n2: 'true' });
      expect(await conditionOf('stuck', 'Stalled')).toMatchObject({ status: 'True', reason: 'SelectorChanged' });
    }, WAIT);
    f.exporter.setPercent('n2', 1);
    await f.client.delete(DEPLOYMENTS, ref('stuck'));
    await vi.waitFor(async () => {
      expect(await affinityOf('stuck')).toContain(key('moved'));
      expect(await f.labels(key('stuck'))).toEqual({});
      expect((await f.watch('stuck')).status?.labelKey).toBe(key('moved'));
    }, WAIT);
    await f.client.delete(TRAFFIC_WATCHES, ref('stuck'));
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
    await f.createWatch('beside', { maxBandwidthPercent: '10' });
    await vi.waitFor(async () => expect(await f.labels(key('beside'))).toEqual({ n1: 'true', n2: 'false' }), WAIT);
    await f.stopOperator();
    await f.patchWatch('beside', { metadata: { finalizers: null } });
    await f.client.delete(TRAFFIC_WATCHES, ref('beside'));
    await f.startOperator();
    await vi.waitFor(async () => expect(await f.labels(key('beside'))).toEqual({}), WAIT);
    await vi.waitFor(async () => {
      expect(await conditionOf('bare', 'Stalled')).toMatchObject({ status: 'True', reason: 'InvalidSpec' });
    }, WAIT);
  });
});

describe('a Prometheus that accepts and never answers', () => {
  let server: Server;
  beforeAll(async () => {
    server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('is told by a TrafficWatch that is made meanwhile; those there are keep their labels', async () => {
    const before = await f.labels(key('web'));
    await f.stopOperator();
    const { port } = server.address() as AddressInfo;
    await f.startOperator([], { prometheusUrl: `http://127.0.0.1:${port}` });
    // The new one comes last: after a minute without data, it gets its Deployment.
    for (const name of ['web', 'hung']) {
      if (name === 'hung') await f.createWatch(name, { maxBandwidthPercent: '10' });
      await vi.waitFor(async () => {
        const reachable = await conditionOf(name, 'PrometheusReachable');
        expect(reachable).toMatchObject({ status: 'False', reason: 'PrometheusDeadline' });
      }, WAIT);
    }
    expect((await f.watch('hung')).status).toMatchObject({ ready: false, unknownNodes: 2 });
    await expect(f.client.get(DEPLOYMENTS, ref('hung'))).rejects.toMatchObject({ status: 404 });
    expect(await f.labels(key('web'))).toEqual(before);
  });
});
