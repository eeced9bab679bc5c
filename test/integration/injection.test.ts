import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MUTATING_POLICIES, MUTATING_POLICY_BINDINGS, PODS } from '../../src/runtime/client/resources.ts';
import { writesOf } from '../harness/audit.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { installPlacementPolicy, placementPolicy } from '../harness/placementPolicy.ts';
import type { RunningProcess } from '../harness/process.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';
import { policyThatAddsATerm } from './injection/laterPolicy.ts';
import {
  admitted,
  aPod,
  aStatefulSet,
  condition,
  disk,
  giveRoom,
  kubectl,
  NEW_NODE,
  notUnfit,
  preferredOf,
  required,
  requiredTermsOf,
  startControllers,
  STATEFULSETS,
  untilInjected,
  WAIT,
} from './injection/world.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** Workloads that the operator does not own: a real API server with the policy, a real StatefulSet controller and scheduler. */
const OPERATOR = 'operator-under-test';
const REPLICAS = 4;

let f: Fixture;
let c: Connected;
let controllers: RunningProcess[] = [];

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  c = connect(f.controlPlane);
  await giveRoom(f, ['n1', 'n2']);
  controllers = await startControllers(f);
  await installPlacementPolicy(f.client);
  f.exporter.setPercent('n1', 60);
  await f.startOperator([], { kubeconfig: await f.controlPlane.user(OPERATOR, ['system:masters']) });
  const targetRef = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };
  await f.createWatch('db', { maxBandwidthPercent: '10', placement: 'Required', targetRef });
  await f.createWatch('cache', { maxBandwidthPercent: '10', podSelector: { matchLabels: { app: 'cache' } } });
});
afterAll(async () => {
  for (const each of controllers) await each.stop();
  await c.transport.close();
  await f.stop();
});

async function podsOf(app: string): Promise<V1Pod[]> {
  return f.client.list(PODS, { namespace: 'default', labelSelector: `app=${app}` });
}

describe('spec.targetRef', () => {
  it('says that the workload is missing, and labels the nodes all the same', async () => {
    await vi.waitFor(async () => {
      const found = await condition(f, 'db', 'TargetFound');
      expect(found).toMatchObject({ status: 'False', reason: 'TargetNotFound' });
      expect(found?.message).toContain('StatefulSet default/db does not exist');
    }, WAIT);
    await vi.waitFor(async () => {
      expect(await f.labels(unfitKey('db'))).toEqual({ n1: 'true', n2: 'false' });
    }, WAIT);
  });

  it('keeps the pods of an existing StatefulSet off the full node', async () => {
    await f.client.create(STATEFULSETS, aStatefulSet('db', 0));
    await untilInjected(f, c, 'db', 'db');
    expect(await condition(f, 'db', 'TargetFound')).toMatchObject({ status: 'True', reason: 'TargetResolved' });
    const scale = { spec: { replicas: REPLICAS } };
    await f.client.mergePatch(STATEFULSETS, { namespace: 'default', name: 'db' }, scale, { fieldManager: 'person' });
    await vi.waitFor(async () => {
      const nodes = (await podsOf('db')).map(({ spec }) => spec?.nodeName);
      expect(nodes).toEqual(Array.from({ length: REPLICAS }, () => 'n2'));
    }, WAIT);
  });

  it('adds the term to pods that are created while the operator is down', async () => {
    await f.stopOperator();
    expect(requiredTermsOf(await admitted(c, aPod('late', { app: 'db' })))).toContainEqual({
      matchExpressions: [notUnfit('db')],
    });
    await f.startOperator([], { kubeconfig: await f.controlPlane.user(OPERATOR, ['system:masters']) });
  });

  it('leaves nothing for a GitOps tool to correct: the manifest still applies without a difference', async () => {
    const before = await f.client.get(STATEFULSETS, { namespace: 'default', name: 'db' });
    const manifest = aStatefulSet('db', REPLICAS);
    const names = (await podsOf('db')).map(({ metadata }) => metadata?.uid).sort();
    const passes = async () => (await metricsOf(f.operator())).sum('passes_total');
    for (let time = 0; time < 5; time++) {
      await kubectl(f, ['apply', '--server-side', '--force-conflicts'], manifest);
      const pass = await passes();
      await vi.waitFor(async () => expect(await passes()).toBeGreaterThan(pass), WAIT);
    }
    // Status 1 where there is a difference.
    await kubectl(f, ['diff', '--server-side', '--force-conflicts'], manifest);
    const after = await f.client.get(STATEFULSETS, { namespace: 'default', name: 'db' });
    expect(after.metadata?.generation).toBe(before.metadata?.generation);
    expect((await podsOf('db')).map(({ metadata }) => metadata?.uid).sort()).toEqual(names);
  });

  it('writes neither the workload nor its pods', () => {
    const resources = writesOf(f.controlPlane, OPERATOR).map(({ resource }) => resource);
    expect(resources).toEqual(expect.arrayContaining(['nodes', 'trafficwatches/status']));
    expect([...new Set(resources)].filter((each) => /^(pods|statefulsets|deployments)/.test(each))).toEqual([]);
  });
});

describe('the placement policy with Required', () => {
  it.each<[string, object[] | undefined, object[]]>([
    ['a pod without terms', undefined, [{ matchExpressions: [notUnfit('db')] }, { matchExpressions: [NEW_NODE] }]],
    [
      'every term of the user, which each get a twin for simulated nodes',
      [{ matchExpressions: [disk] }, { matchExpressions: [{ key: 'zone', operator: 'Exists' }] }],
      [
        { matchExpressions: [disk, notUnfit('db')] },
        { matchExpressions: [{ key: 'zone', operator: 'Exists' }, notUnfit('db')] },
        { matchExpressions: [disk, NEW_NODE] },
        { matchExpressions: [{ key: 'zone', operator: 'Exists' }, NEW_NODE] },
      ],
    ],
    [
      'a term with fields, which it keeps',
      [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n2'] }] }],
      [
        {
          matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n2'] }],
          matchExpressions: [notUnfit('db')],
        },
        { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n2'] }], matchExpressions: [NEW_NODE] },
      ],
    ],
    [
      'nothing the second time',
      [{ matchExpressions: [disk, notUnfit('db')] }, { matchExpressions: [disk, NEW_NODE] }],
      [{ matchExpressions: [disk, notUnfit('db')] }, { matchExpressions: [disk, NEW_NODE] }],
    ],
  ])('changes %s', async (_what, terms, expected) => {
    const affinity = terms === undefined ? undefined : required(terms);
    const pod = await admitted(c, aPod('one', { app: 'db' }, { affinity }));
    expect(requiredTermsOf(pod)).toEqual(expected);
    expect(preferredOf(pod)).toBeUndefined();
  });

  it('keeps the rest of the affinity', async () => {
    const preferred = [{ weight: 1, preference: { matchExpressions: [disk] } }];
    const podAntiAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', labelSelector: {} }],
    };
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: preferred };
    const pod = await admitted(c, aPod('one', { app: 'db' }, { affinity: { nodeAffinity, podAntiAffinity } }));
    expect(preferredOf(pod)).toEqual(preferred);
    expect(pod.spec?.affinity?.podAntiAffinity).toEqual(podAntiAffinity);
    expect(requiredTermsOf(pod)).toHaveLength(2);
  });

  it('adds the requirement to a term that a later policy adds, and to each term once, although it runs twice', async () => {
    const { policy, binding } = policyThatAddsATerm();
    await f.client.create(MUTATING_POLICIES, policy);
    await f.client.create(MUTATING_POLICY_BINDINGS, binding);
    await vi.waitFor(async () => {
      const pod = await admitted(c, aPod('one', { app: 'db', 'adds-a-term': '' }));
      expect(requiredTermsOf(pod)).toEqual([
        { matchExpressions: [notUnfit('db')] },
        { matchExpressions: [NEW_NODE] },
        { matchExpressions: [disk, notUnfit('db')] },
        { matchExpressions: [disk, NEW_NODE] },
      ]);
    }, WAIT);
    await f.client.delete(MUTATING_POLICY_BINDINGS, { name: 'zz-adds-a-term' });
    await f.client.delete(MUTATING_POLICIES, { name: 'zz-adds-a-term' });
  });

  it.each<[string, V1Pod]>([
    ['a pod of another workload', aPod('one', { app: 'other' })],
    ['a pod without labels', aPod('one', {})],
    ['a pod that names its node', aPod('one', { app: 'db' }, { nodeName: 'n1' })],
  ])('leaves %s alone', async (_what, pod) => {
    expect((await admitted(c, pod)).spec?.affinity).toBeUndefined();
  });

  it('does not keep a pod of a DaemonSet from its node', async () => {
    const pod = aPod('one', { app: 'db' });
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'u', controller: true };
    pod.metadata!.ownerReferences = [owner];
    expect((await admitted(c, pod)).spec?.affinity?.nodeAffinity).toEqual(undefined);
  });
});

describe('spec.podSelector', () => {
  it('adds a preferred term by default, after the terms of the user', async () => {
    await untilInjected(f, c, 'cache', 'cache');
    const theirs = { weight: 1, preference: { matchExpressions: [disk] } };
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [theirs] } };
    const ours = { weight: 100, preference: { matchExpressions: [notUnfit('cache')] } };
    expect(preferredOf(await admitted(c, aPod('one', { app: 'cache' }, { affinity })))).toEqual([theirs, ours]);
  });

  it('adds the terms of every TrafficWatch that selects the pod', async () => {
    const podSelector = {
      matchExpressions: [
        { key: 'app', operator: 'In' as const, values: ['db', 'queue'] },
        { key: 'old', operator: 'DoesNotExist' as const },
      ],
    };
    await f.createWatch('both', { maxBandwidthPercent: '10', placement: 'Required', podSelector });
    await vi.waitFor(async () => {
      const terms = requiredTermsOf(await admitted(c, aPod('one', { app: 'db' })));
      expect(terms?.filter(({ matchExpressions }) => matchExpressions?.length === 2)).toHaveLength(1);
      expect(terms).toContainEqual({
        matchExpressions: expect.arrayContaining([notUnfit('db'), notUnfit('both')]) as object[],
      });
    }, WAIT);
    expect(requiredTermsOf(await admitted(c, aPod('one', { app: 'db', old: '' })))).toHaveLength(2);
    await f.deleteWatch('both');
  });

  it('stops with mode Observe', async () => {
    await f.patchWatch('cache', { spec: { mode: 'Observe' } });
    await vi.waitFor(async () => {
      expect((await admitted(c, aPod('one', { app: 'cache' }))).spec?.affinity).toBeUndefined();
    }, WAIT);
    await f.patchWatch('cache', { spec: { mode: 'Enforce' } });
    await untilInjected(f, c, 'cache', 'cache');
  });
});

describe('without the policy', () => {
  it('a condition says so, and what to add by hand', async () => {
    const { binding } = placementPolicy();
    await f.client.delete(MUTATING_POLICY_BINDINGS, { name: binding.metadata?.name ?? '' });
    await f.restartOperator();
    await vi.waitFor(async () => {
      const found = await condition(f, 'cache', 'InjectionUnavailable');
      expect(found).toMatchObject({ status: 'True', reason: 'PolicyMissing' });
      expect(found?.message).toContain(`{"weight":100,"preference":{"matchExpressions":[{"key":"${unfitKey('cache')}"`);
    }, WAIT);
    await f.client.create(MUTATING_POLICY_BINDINGS, binding);
    await vi.waitFor(async () => {
      expect(await condition(f, 'cache', 'InjectionUnavailable')).toMatchObject({ status: 'False' });
    }, WAIT);
  });
});

describe('the API server refuses', () => {
  it('another kind of workload for the same TrafficWatch', async () => {
    const deployment = { selector: { matchLabels: { app: 'cache' } }, template: { spec: { containers: [] } } };
    await expect(f.patchWatch('cache', { spec: { podSelector: null, deployment } })).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('deployment cannot be added or removed') as string,
    });
  });
});
