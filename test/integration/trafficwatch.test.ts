import type { V1Deployment, V1Node } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { DEPLOYMENTS, NAMESPACES } from '../../src/runtime/client/resources.ts';
import { measured, seconds } from '../harness/measured.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { connect } from '../harness/runtimeScene.ts';
import { watchVersions, type Versions } from './versions.ts';
import { legacyKey, unfitKey } from '../harness/unfitKey.ts';

/**
 * TrafficWatch end to end on a real API server and a real Prometheus that scrapes counters which the test moves: no
 * kubelets, so nodes are plain objects and the Deployment has no pods.
 */
const WAIT = { timeout: 90_000, interval: 200 };

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2', 'n3'] });
  await f.startOperator();
});
afterAll(async () => {
  await f.stop();
});

const affinityOf = ({ spec }: V1Deployment): string => JSON.stringify(spec?.template.spec?.affinity ?? {});
const condition = (watch: TrafficWatch, type: string) => watch.status?.conditions?.find((c) => c.type === type);

describe('a TrafficWatch', () => {
  it('gets its nodes labelled, its Deployment made and its status filled', async () => {
    f.exporter.setPercent('n1', 50);
    await f.createWatch('web', { maxBandwidthPercent: '10' });
    await vi.waitFor(async () => {
      expect(await f.labels(unfitKey('web'))).toEqual({ n1: 'true', n2: 'false', n3: 'false' });
      const { status } = await f.watch('web');
      expect(status).toMatchObject({
        ready: true,
        fitNodes: 2,
        unfitNodes: 1,
        unknownNodes: 0,
        labelKey: unfitKey('web'),
      });
    }, WAIT);
    const { status } = await f.watch('web');
    expect(Number(status?.nodes?.n1?.currentBandwidthPercent)).toBeGreaterThan(10);
    expect(status?.nodes?.n1).toMatchObject({ unfit: true, verdict: 'Unfit', reason: 'AboveThreshold' });
    const deployment = await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'web' });
    expect(deployment.metadata?.ownerReferences?.[0]).toMatchObject({
      kind: 'TrafficWatch',
      name: 'web',
      controller: true,
    });
    expect(deployment.spec?.template.metadata?.labels).toEqual({ app: 'web', tier: 'front' });
    expect(JSON.stringify(deployment.spec?.template.spec?.affinity)).toContain(unfitKey('web'));
  });

  it('has its labels follow the traffic', async () => {
    f.exporter.setPercent('n1', 1);
    f.exporter.setPercent('n2', 60);
    await vi.waitFor(async () => {
      expect(await f.labels(unfitKey('web'))).toEqual({ n1: 'false', n2: 'true', n3: 'false' });
    }, WAIT);
    await vi.waitFor(async () => {
      const reasons = (await f.events('web')).map((e) => e.reason);
      expect(reasons).toEqual(expect.arrayContaining(['NodeUnfit', 'NodeFit', 'Decided', 'DeploymentCreated']));
    }, WAIT);
  });

  it('writes nothing to nodes and Deployment while nothing changes', async () => {
    const versions = async () => [
      await f.nodeVersions(),
      (await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'web' })).metadata?.resourceVersion,
    ];
    const before = await versions();
    const { status } = await f.watch('web');
    const firstTime = status?.nodes?.n3?.time ?? 0;
    await vi.waitFor(async () => {
      const later = (await f.watch('web')).status?.nodes?.n3?.time ?? 0;
      expect(later).toBeGreaterThan(firstTime + 3);
    }, WAIT);
    expect(await versions()).toEqual(before);
  });

  it('has its label put right when a person changes or removes it', async () => {
    await f.setLabels('n1', { [unfitKey('web')]: 'true' });
    await f.setLabels('n2', { [unfitKey('web')]: null });
    await vi.waitFor(async () => {
      expect(await f.labels(unfitKey('web'))).toEqual({ n1: 'false', n2: 'true', n3: 'false' });
    }, WAIT);
  });

  it('has its Deployment made again, and drift put right, while others may own replicas', async () => {
    await f.client.delete(DEPLOYMENTS, { namespace: 'default', name: 'web' });
    await vi.waitFor(() => f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'web' }), WAIT);
    const drift = { spec: { replicas: 5, template: { spec: { affinity: null } } } };
    await f.client.mergePatch(DEPLOYMENTS, { namespace: 'default', name: 'web' }, drift, { fieldManager: 'person' });
    await vi.waitFor(async () => {
      const { spec } = await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'web' });
      expect(JSON.stringify(spec?.template.spec?.affinity)).toContain(unfitKey('web'));
      expect(spec?.replicas).toBe(5);
    }, WAIT);
  });

  it('loses what its spec no longer says', async () => {
    const watch = await f.watch('web');
    const template = structuredClone(watch.spec.deployment!.template);
    delete template.metadata?.labels?.tier;
    await f.patchWatch('web', { spec: { deployment: { template: { metadata: { labels: { tier: null } } } } } });
    await vi.waitFor(async () => {
      const { spec } = await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'web' });
      expect(spec?.template.metadata?.labels).toEqual({ app: 'web' });
    }, WAIT);
  });
});

describe('the nodes', () => {
  it('that join are decided on their own, and those that go leave the status', async () => {
    f.exporter.setPercent('n4', 70);
    await f.addNode('n4');
    await vi.waitFor(async () => {
      expect((await f.labels(unfitKey('web'))).n4).toBe('true');
      expect((await f.watch('web')).status).toMatchObject({ ready: true, unfitNodes: 2 });
    }, WAIT);
    await f.removeNode('n4');
    await vi.waitFor(async () => {
      expect(Object.keys((await f.watch('web')).status?.nodes ?? {})).toEqual(['n1', 'n2', 'n3']);
    }, WAIT);
  });

  it('without figures are Unknown, keep their label, and are named once they have been there for a minute', async () => {
    f.exporter.remove('n2');
    await vi.waitFor(
      async () => {
        const watch = await f.watch('web');
        expect(watch.status?.nodes?.n2).toMatchObject({ verdict: 'Unknown', currentBandwidthPercent: '', unfit: true });
        expect(condition(watch, 'MetricsAvailable')).toMatchObject({ status: 'False', reason: 'PartialData' });
        expect(condition(watch, 'MetricsAvailable')?.message).toContain('n2');
      },
      { ...WAIT, timeout: 180_000 },
    );
    expect(await f.labels(unfitKey('web'))).toMatchObject({ n2: 'true' });
    f.exporter.setPercent('n2', 60);
    await vi.waitFor(async () => expect((await f.watch('web')).status?.nodes?.n2?.verdict).toBe('Unfit'), WAIT);
  });

  it('with the capacity annotation are measured by it', async () => {
    await f.annotateNode('n3', { 'traffic.example.com/capacity': '10Mbit' });
    await vi.waitFor(async () => expect((await f.labels(unfitKey('web'))).n3).toBe('true'), WAIT);
    await f.annotateNode('n3', { 'traffic.example.com/capacity': null });
    await vi.waitFor(async () => expect((await f.labels(unfitKey('web'))).n3).toBe('false'), WAIT);
  });
});

describe('label keys', () => {
  it('move to a new name: the new key first, then the Deployment, then the old key goes', async () => {
    const { transport } = connect(f.controlPlane);
    const nodes = await watchVersions<V1Node>(transport, '/api/v1/nodes');
    const deployments = await watchVersions<V1Deployment>(transport, '/apis/apps/v1/deployments');
    await f.patchWatch('web', { spec: { label: 'renamed' } });
    await vi.waitFor(async () => {
      expect(await f.labels(unfitKey('web'))).toEqual({});
      expect(await f.labels(unfitKey('renamed'))).toEqual({ n1: 'false', n2: 'true', n3: 'false' });
      expect((await f.watch('web')).status?.labelKey).toBe(unfitKey('renamed'));
    }, WAIT);
    // By the order in which they were written, not by what a poll happens to see.
    const first = <O>({ seen }: Versions<O>, is: (object: O) => boolean): number =>
      seen.find(({ object }) => is(object))?.revision ?? Infinity;
    const firstOf = (name: string, is: (labels: Record<string, string>) => boolean): number =>
      first(nodes, ({ metadata }) => metadata?.name === name && is(metadata.labels ?? {}));
    const names = ['n1', 'n2', 'n3'];
    const decided = (): number[] => names.map((name) => firstOf(name, (labels) => unfitKey('renamed') in labels));
    const gone = (): number[] => names.map((name) => firstOf(name, (labels) => !(unfitKey('web') in labels)));
    const isWeb = ({ metadata }: V1Deployment): boolean => metadata?.name === 'web';
    const deployed = (): number => first(deployments, (d) => isWeb(d) && affinityOf(d).includes(unfitKey('renamed')));
    await vi.waitFor(() => expect([...decided(), deployed(), ...gone()]).not.toContain(Infinity), WAIT);
    expect(Math.max(...decided())).toBeLessThan(deployed());
    expect(deployed()).toBeLessThan(Math.min(...gone()));
    expect(affinityOf(await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'web' }))).not.toContain(
      unfitKey('web'),
    );
    await Promise.all([nodes.stop(), deployments.stop()]);
    await transport.close();
  });

  it('belong to the older TrafficWatch: of the younger one nothing is written, and it inherits without a flap', async () => {
    const deployment = (name: string) => f.client.get(DEPLOYMENTS, { namespace: 'default', name });
    const nodes = await f.nodeVersions();
    const { resourceVersion } = (await deployment('web')).metadata!;
    const made = performance.now();
    await f.createWatch('rival', { maxBandwidthPercent: '10', label: 'renamed' });
    await vi.waitFor(async () => {
      const rival = await f.watch('rival');
      expect(condition(rival, 'Stalled')).toMatchObject({ status: 'True', reason: 'LabelKeyTaken' });
      expect(condition(rival, 'Stalled')?.message).toContain('default/web');
      expect(rival.metadata?.finalizers).toBeUndefined();
    }, WAIT);
    measured(`a TrafficWatch whose key is taken is Stalled after ${seconds(performance.now() - made)}`);
    const stalledAt = (await f.watch('web')).status?.nodes?.n1?.time ?? 0;
    await vi.waitFor(async () => {
      expect((await f.watch('web')).status?.nodes?.n1?.time).toBeGreaterThan(stalledAt + 2);
    }, WAIT);
    await expect(deployment('rival')).rejects.toMatchObject({ status: 404 });
    expect((await deployment('web')).metadata?.resourceVersion).toBe(resourceVersion);
    expect(await f.nodeVersions()).toEqual(nodes);
    await f.client.delete(TRAFFIC_WATCHES, { namespace: 'default', name: 'web' });
    await vi.waitFor(
      async () => expect((await f.watch('rival')).status).toMatchObject({ ready: true, unfitNodes: 1 }),
      WAIT,
    );
    expect(await f.nodeVersions()).toEqual(nodes);
  });
});

describe('the same label in two namespaces', () => {
  it('gives each its own key: both are Ready, and neither decides for the other', async () => {
    const limits = { shop: '10', team: '90' };
    for (const [namespace, maxBandwidthPercent] of Object.entries(limits)) {
      await f.client.create(NAMESPACES, { metadata: { name: namespace } });
      const spec = { maxBandwidthPercent, label: 'checkout', podSelector: { matchLabels: { app: 'checkout' } } };
      await f.client.create(TRAFFIC_WATCHES, { metadata: { namespace, name: 'checkout' }, spec });
    }
    await vi.waitFor(async () => {
      for (const namespace of Object.keys(limits)) {
        const { status } = await f.client.get(TRAFFIC_WATCHES, { namespace, name: 'checkout' });
        expect(status).toMatchObject({ ready: true, labelKey: unfitKey('checkout', namespace) });
      }
      expect(await f.labels(unfitKey('checkout', 'shop'))).toEqual({ n1: 'false', n2: 'true', n3: 'false' });
      expect(await f.labels(unfitKey('checkout', 'team'))).toEqual({ n1: 'false', n2: 'false', n3: 'false' });
    }, WAIT);
    expect(await f.labels(legacyKey('checkout'))).toEqual({});
  });
});

describe('a Deployment', () => {
  it('of the same name that is not ours is left alone and named', async () => {
    await f.createForeignDeployment('taken');
    const before = (await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'taken' })).metadata?.resourceVersion;
    const made = performance.now();
    await f.createWatch('taken', { maxBandwidthPercent: '10' });
    await vi.waitFor(async () => {
      const stalled = condition(await f.watch('taken'), 'Stalled');
      expect(stalled).toMatchObject({ status: 'True', reason: 'DeploymentNotOwned' });
      expect(stalled?.message).toContain('default/taken');
    }, WAIT);
    measured(`a TrafficWatch whose Deployment is another's is Stalled after ${seconds(performance.now() - made)}`);
    const after = (await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'taken' })).metadata?.resourceVersion;
    expect(after).toBe(before);
    expect(await f.labels(unfitKey('taken'))).toEqual({});
    await f.client.delete(TRAFFIC_WATCHES, { namespace: 'default', name: 'taken' });
  });

  it('whose selector changes is not made again', async () => {
    const uid = (await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'rival' })).metadata?.uid;
    const labels = { app: 'other' };
    await f.patchWatch('rival', {
      spec: { deployment: { selector: { matchLabels: labels }, template: { metadata: { labels } } } },
    });
    await vi.waitFor(
      async () => expect(condition(await f.watch('rival'), 'Stalled')?.reason).toBe('SelectorChanged'),
      WAIT,
    );
    expect((await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'rival' })).metadata?.uid).toBe(uid);
  });
});

describe('deletion', () => {
  it('while the operator is down removes the labels when it is back, and keeps the labels of others', async () => {
    await f.setLabels('n1', { 'own.traffic.example.com/unfit': 'true', zone: 'a' });
    await f.stopOperator();
    await f.client.delete(TRAFFIC_WATCHES, { namespace: 'default', name: 'rival' });
    expect((await f.watch('rival')).metadata?.deletionTimestamp).toBeDefined();
    const begin = performance.now();
    await f.startOperator();
    await vi.waitFor(async () => {
      await expect(f.watch('rival')).rejects.toMatchObject({ status: 404 });
      expect(await f.labels(unfitKey('renamed'))).toEqual({});
    }, WAIT);
    measured(`deleted while the operator was down: labels gone ${seconds(performance.now() - begin)} after its start`);
    expect(await f.labels('own.traffic.example.com/unfit')).toEqual({ n1: 'true' });
    expect(await f.labels('zone')).toEqual({ n1: 'a' });
  });

  it('takes the labels off at once, and is not Ready while another finalizer is left', async () => {
    await f.createWatch('held', { maxBandwidthPercent: '10' });
    await vi.waitFor(async () => expect((await f.watch('held')).status?.ready).toBe(true), WAIT);
    const { finalizers = [] } = (await f.watch('held')).metadata ?? {};
    await f.patchWatch('held', { metadata: { finalizers: [...finalizers, 'example.com/backup'] } });
    await f.client.delete(TRAFFIC_WATCHES, { namespace: 'default', name: 'held' });
    await vi.waitFor(async () => {
      const held = await f.watch('held');
      expect([held.status?.ready, condition(held, 'Ready')?.reason]).toEqual([false, 'Terminating']);
      expect(condition(held, 'Ready')?.message).toContain('example.com/backup');
      expect(held.metadata?.finalizers).toEqual(['example.com/backup']);
    }, WAIT);
    expect(await f.labels(unfitKey('held'))).toEqual({});
    await f.patchWatch('held', { metadata: { finalizers: null } });
    await expect(f.watch('held')).rejects.toMatchObject({ status: 404 });
  });

  it('with the finalizer forced off still leaves no label of ours', async () => {
    await f.createWatch('forced', { maxBandwidthPercent: '10' });
    await vi.waitFor(async () => expect(Object.keys(await f.labels(unfitKey('forced')))).toHaveLength(3), WAIT);
    await f.stopOperator();
    await f.patchWatch('forced', { metadata: { finalizers: null } });
    await f.client.delete(TRAFFIC_WATCHES, { namespace: 'default', name: 'forced' });
    await f.startOperator();
    await vi.waitFor(async () => expect(await f.labels(unfitKey('forced'))).toEqual({}), WAIT);
    expect(await f.labels('own.traffic.example.com/unfit')).toEqual({ n1: 'true' });
  });
});
