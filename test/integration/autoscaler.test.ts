import { symlink } from 'node:fs/promises';
import { basename } from 'node:path';
import type { V1Deployment, V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import type { Resource } from '../../src/runtime/client/resource.ts';
import { binary } from '../lab/binaries.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';
import { freePorts, start, type RunningProcess } from '../harness/process.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';

/**
 * The HorizontalPodAutoscaler controller of a real kube-controller-manager. It needs no metrics to apply minReplicas,
 * and syncs every second here.
 */
const WAIT = { timeout: 90_000, interval: 200 };
const HPAS: Resource<V2HorizontalPodAutoscaler> = {
  group: 'autoscaling',
  version: 'v2',
  plural: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  namespaced: true,
};
const REF = { namespace: 'default', name: 'web' };

let f: Fixture;
let connected: Connected;
let controllers: RunningProcess;
let stopFollowing: () => Promise<void>;
/** The values of spec.replicas, one for each change. */
const counts: (number | undefined)[] = [];

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'] });
  connected = connect(f.controlPlane);
  await f.startOperator();
  controllers = await startControllers(await binary('kube-controller-manager'));
  stopFollowing = await follow(f.controlPlane, DEPLOYMENTS, ({ object: { metadata, spec } }) => {
    if (metadata?.name === 'web' && counts.at(-1) !== spec?.replicas) counts.push(spec?.replicas);
  });
});
afterAll(async () => {
  await stopFollowing();
  await controllers.stop();
  await connected.transport.close();
  await f.stop();
});

async function startControllers(program: string): Promise<RunningProcess> {
  const [port] = await freePorts(1);
  const { directory, kubeconfig } = f.controlPlane;
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    '--controllers=horizontal-pod-autoscaler-controller',
    '--horizontal-pod-autoscaler-sync-period=1s',
    '--leader-elect=false',
    `--secure-port=${port}`,
    `--cert-dir=${directory}/controllers`,
  ];
  return start(program, flags, `${directory}/controllers-${basename(program)}.log`);
}

const deployment = (): Promise<V1Deployment> => f.client.get(DEPLOYMENTS, REF);

async function reconciling() {
  return (await f.watch('web')).status?.conditions?.find((c) => c.type === 'Reconciling');
}

async function replicas(count: number): Promise<void> {
  await vi.waitFor(async () => expect((await deployment()).spec?.replicas).toBe(count), WAIT);
}

async function createAutoscaler(minReplicas: number): Promise<void> {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  const spec = { scaleTargetRef, minReplicas, maxReplicas: 9 };
  await f.client.create(HPAS, { metadata: REF, spec });
}

async function patchAutoscaler(minReplicas: number): Promise<void> {
  await f.client.mergePatch(HPAS, REF, { spec: { minReplicas } }, { fieldManager: 'person' });
}

async function passes(): Promise<number> {
  const text = await (await fetch(f.operator().metricsUrl)).text();
  return Number(/passes_total\{result="ok"\} (\d+)/.exec(text)?.[1] ?? 0);
}

async function afterPasses(count: number): Promise<void> {
  const until = (await passes()) + count;
  await vi.waitFor(async () => expect(await passes()).toBeGreaterThanOrEqual(until), WAIT);
}

const contestedEvents = async () => (await f.events('web')).filter(({ reason }) => reason === 'ReplicasContested');

describe('replicas in the spec and a HorizontalPodAutoscaler', () => {
  it('alone: the operator corrects a person who scales once', async () => {
    await f.createWatch('web', { maxBandwidthPercent: '10' });
    await f.patchWatch('web', { spec: { deployment: { replicas: 3 } } });
    await replicas(3);
    const byKubectl = { fieldManager: 'kubectl', subresource: 'scale' };
    await f.client.mergePatch(DEPLOYMENTS, REF, { spec: { replicas: 2 } }, byKubectl);
    await vi.waitFor(() => expect(counts.slice(-2)).toEqual([2, 3]), WAIT);
    // The status is written after the Deployment.
    await vi.waitFor(async () => expect(await reconciling()).toMatchObject({ status: 'False' }), WAIT);
  });

  it('do not fight: the autoscaler’s count applies, and a condition and one event say how to resolve it', async () => {
    await createAutoscaler(5);
    await replicas(5);
    await vi.waitFor(async () => {
      expect(await reconciling()).toMatchObject({ status: 'True', reason: 'ReplicasContested' });
    }, WAIT);
    expect((await reconciling())?.message).toContain('spec.deployment.replicas is 3');
    expect((await reconciling())?.message).toContain('kube-controller-manager');
    expect((await reconciling())?.message).toContain('"path":"/spec/deployment/replicas"');
    await patchAutoscaler(6);
    await replicas(6);
    await afterPasses(5);
    // The watch may be behind.
    await vi.waitFor(() => expect(counts.slice(counts.lastIndexOf(3))).toEqual([3, 5, 6]), WAIT);
    expect((await f.watch('web')).status?.ready).toBe(true);
    await vi.waitFor(async () => expect(await contestedEvents()).toHaveLength(1), WAIT);
    expect((await contestedEvents())[0]).toMatchObject({ type: 'Warning' });
    expect((await contestedEvents())[0]?.series?.count ?? 1).toBe(1);
  });

  it('do not fight after a restart of the operator', async () => {
    counts.length = 0;
    const { metadata } = await deployment();
    await f.restartOperator();
    await afterPasses(3);
    expect((await deployment()).metadata?.resourceVersion).toBe(metadata?.resourceVersion);
    expect(counts).toEqual([]);
  });

  it('apply a new count from the spec once, and not again', async () => {
    counts.push(6);
    await f.patchWatch('web', { spec: { deployment: { replicas: 4 } } });
    await vi.waitFor(() => expect(counts).toEqual([6, 4, 6]), WAIT);
    await vi.waitFor(async () => {
      expect(await reconciling()).toMatchObject({ reason: 'ReplicasContested' });
      expect((await reconciling())?.message).toContain('spec.deployment.replicas is 4');
    }, WAIT);
    await afterPasses(3);
    expect(counts).toEqual([6, 4, 6]);
  });

  it('are resolved when the replicas are removed from the spec', async () => {
    await f.patchWatch('web', { spec: { deployment: { replicas: null } } });
    await vi.waitFor(async () => expect(await reconciling()).toMatchObject({ status: 'False' }), WAIT);
    expect(counts).toEqual([6, 4, 6]);
    expect((await deployment()).metadata?.annotations).not.toHaveProperty(['traffic.example.com/overruled-replicas']);
  });

  it('follow the spec again without the autoscaler, after a person has scaled', async () => {
    await f.patchWatch('web', { spec: { deployment: { replicas: 2 } } });
    await vi.waitFor(async () => {
      expect(await reconciling()).toMatchObject({ status: 'True', reason: 'ReplicasContested' });
      expect((await reconciling())?.message).toContain('spec.deployment.replicas is 2');
    }, WAIT);
    // The controller may learn late that the autoscaler is gone, and would scale once more after the person.
    await controllers.stop();
    await f.client.delete(HPAS, REF);
    await f.client.mergePatch(
      DEPLOYMENTS,
      REF,
      { spec: { replicas: 1 } },
      { fieldManager: 'kubectl', subresource: 'scale' },
    );
    await replicas(2);
    await vi.waitFor(async () => expect(await reconciling()).toMatchObject({ status: 'False' }), WAIT);
  });

  it('are left to an autoscaler in a program of another name, such as k3s, after one correction', async () => {
    // The field manager is the name of the program.
    const program = `${f.controlPlane.directory}/k3s`;
    await symlink(await binary('kube-controller-manager'), program);
    counts.splice(0, counts.length, 2);
    controllers = await startControllers(program);
    await createAutoscaler(5);
    await vi.waitFor(async () => {
      expect(await reconciling()).toMatchObject({ status: 'True', reason: 'ReplicasContested' });
      expect((await reconciling())?.message).toContain('field manager "k3s"');
    }, WAIT);
    await afterPasses(5);
    // The watch may be behind.
    await vi.waitFor(() => expect(counts).toEqual([2, 5, 2, 5]), WAIT);
    await f.restartOperator();
    await afterPasses(3);
    expect(counts).toEqual([2, 5, 2, 5]);
  });
});
