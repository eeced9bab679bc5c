import type { V1CustomResourceDefinition, V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { KubeObject, Resource } from '../../src/runtime/client/resource.ts';
import { PODS } from '../../src/runtime/client/resources.ts';
import { installCrd } from '../harness/customResource.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { installPlacementPolicy } from '../harness/placementPolicy.ts';
import type { RunningProcess } from '../harness/process.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';
import {
  admitted,
  aPod,
  condition,
  giveRoom,
  NEW_NODE,
  notUnfit,
  preferredOf,
  requiredTermsOf,
  startControllers,
  WAIT,
} from './injection/world.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * Every kind of workload that spec.targetRef takes, with its real controller and the real scheduler. Deployments are in
 * workloadsDoc.test.ts and StatefulSets in injection.test.ts.
 */
const UNFIT = 'n1';
const FIT = 'n2';
const CONTROLLERS = ['replicaset', 'daemonset', 'job', 'cronjob'].map((name) => `${name}-controller`);
/** A CronJob starts with the next minute. */
const WITHIN_MINUTES = { ...WAIT, timeout: 240_000 };

let f: Fixture;
let c: Connected;
let controllers: RunningProcess[] = [];

beforeAll(async () => {
  f = await startFixture({ nodes: [UNFIT, FIT] });
  c = connect(f.controlPlane);
  await giveRoom(f, [UNFIT, FIT]);
  controllers = await startControllers(f, CONTROLLERS);
  await installPlacementPolicy(f.client);
  f.exporter.setPercent(UNFIT, 60);
  await f.startOperator();
});
afterAll(async () => {
  for (const each of controllers) await each.stop();
  await c.transport.close();
  await f.stop();
});

interface Workload extends KubeObject {
  readonly spec?: object;
}

interface Row {
  readonly kind: string;
  readonly resource: Resource<Workload>;
  /** Creates no pod yet. */
  readonly spec: (app: string) => object;
  /** Labels of its pods that the selector is about. */
  readonly podLabels: (name: string) => Record<string, string>;
  /** Makes it create pods: a merge patch of its spec. */
  readonly start: object;
}

const resourceOf = (group: string, kind: string): Resource<Workload> => {
  return { group, version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced: true };
};

function template(app: string, over: object = {}) {
  return { metadata: { labels: { app } }, spec: { ...aPod('', {}).spec, ...over } };
}

const selector = (app: string) => ({ matchLabels: { app } });
const once = (app: string) => ({ template: template(app, { restartPolicy: 'Never' }) });

const ROWS: readonly Row[] = [
  {
    kind: 'ReplicaSet',
    resource: resourceOf('apps', 'ReplicaSet'),
    spec: (app) => ({ replicas: 0, selector: selector(app), template: template(app) }),
    podLabels: (app) => ({ app }),
    start: { replicas: 3 },
  },
  {
    kind: 'Job',
    resource: resourceOf('batch', 'Job'),
    spec: (app) => ({ ...once(app), suspend: true, parallelism: 3 }),
    podLabels: (name) => ({ 'batch.kubernetes.io/job-name': name }),
    start: { suspend: false },
  },
  {
    kind: 'CronJob',
    resource: resourceOf('batch', 'CronJob'),
    spec: (app) => ({ schedule: '* * * * *', suspend: true, jobTemplate: { spec: once(app) } }),
    podLabels: (app) => ({ app }),
    start: { suspend: false },
  },
];

const refOf = ({ group, version, kind }: Resource, name: string) => ({ apiVersion: `${group}/${version}`, kind, name });

const podsOf = (app: string): Promise<V1Pod[]> =>
  f.client.list(PODS, { namespace: 'default', labelSelector: `app=${app}` });

const patch = (resource: Resource<Workload>, name: string, spec: object): Promise<unknown> =>
  f.client.mergePatch(resource, { namespace: 'default', name }, { spec }, { fieldManager: 'person' });

async function create(resource: Resource<Workload>, name: string, spec: object): Promise<void> {
  const { group, version, kind } = resource;
  const metadata = { namespace: 'default', name };
  await f.client.create(resource, { apiVersion: `${group}/${version}`, kind, metadata, spec });
}

/** Waits until the node is labelled, and the API server gives the term to pods with these labels. */
async function untilInForce(name: string, labels: Record<string, string>): Promise<void> {
  await vi.waitFor(async () => {
    expect(await condition(f, name, 'TargetFound')).toMatchObject({ status: 'True', reason: 'TargetResolved' });
    expect(await f.labels(unfitKey(name))).toEqual({ [UNFIT]: 'true', [FIT]: 'false' });
    expect(JSON.stringify((await admitted(c, aPod('probe', labels))).spec?.affinity)).toContain(unfitKey(name));
  }, WAIT);
}

describe('spec.targetRef with Required', () => {
  it.each(ROWS)('keeps the pods of a $kind off the unfit node', async ({ kind, resource, spec, podLabels, start }) => {
    const name = kind.toLowerCase();
    await create(resource, name, spec(name));
    await f.createWatch(name, {
      maxBandwidthPercent: '10',
      placement: 'Required',
      targetRef: refOf(resource, name),
    });
    await untilInForce(name, podLabels(name));
    await patch(resource, name, start);
    await vi.waitFor(async () => {
      const pods = await podsOf(name);
      expect(pods.length).toBeGreaterThan(0);
      for (const pod of pods) {
        expect(requiredTermsOf(pod)).toEqual([
          { matchExpressions: [notUnfit(name)] },
          { matchExpressions: [NEW_NODE] },
        ]);
        expect(pod.spec?.nodeName).toBe(FIT);
      }
    }, WITHIN_MINUTES);
  });

  it('keeps the pods of a kind with a scale subresource off the unfit node', async () => {
    const name = 'rollout';
    const rollouts = resourceOf('example.com', 'Rollout');
    await installCrd(f.client, scalableCrd(rollouts), rollouts);
    await create(rollouts, name, { replicas: 1 });
    // Of the active revision, as Argo Rollouts writes it with blueGreen. The pods below are of the next one.
    const status = { selector: `app=${name},tier in (front,back),rollouts-pod-template-hash=687d76d795` };
    const byController = { fieldManager: 'controller', subresource: 'status' };
    await f.client.mergePatch(rollouts, { namespace: 'default', name }, { status }, byController);
    await f.createWatch(name, { maxBandwidthPercent: '10', placement: 'Required', targetRef: refOf(rollouts, name) });
    await untilInForce(name, { app: name, tier: 'front' });
    const next = { app: name, tier: 'back', 'rollouts-pod-template-hash': '5c6d8f7b9d' };
    await f.client.create(PODS, aPod('rollout-1', next));
    await vi.waitFor(async () => {
      const [pod] = await podsOf(name);
      expect(requiredTermsOf(pod!)).toContainEqual({ matchExpressions: [notUnfit(name)] });
      expect(pod?.spec?.nodeName).toBe(FIT);
    }, WAIT);
  });
});

describe('spec.targetRef with Preferred', () => {
  it('keeps a pod of a DaemonSet on each node, with the preferred term', async () => {
    const [name, daemonsets] = ['daemonset', resourceOf('apps', 'DaemonSet')];
    const stopped = template(name, { nodeSelector: { 'example.com/stopped': 'true' } });
    await create(daemonsets, name, { selector: selector(name), template: stopped });
    await f.createWatch(name, { maxBandwidthPercent: '10', targetRef: refOf(daemonsets, name) });
    await untilInForce(name, { app: name });
    await patch(daemonsets, name, { template: { spec: { nodeSelector: null } } });
    await vi.waitFor(async () => {
      const pods = await podsOf(name);
      expect(pods.map(({ spec }) => spec?.nodeName).sort()).toEqual([UNFIT, FIT]);
      for (const pod of pods) {
        expect(preferredOf(pod)).toEqual([{ weight: 100, preference: { matchExpressions: [notUnfit(name)] } }]);
      }
    }, WAIT);
  });
});

/** A kind of another owner, whose controller writes status.selector. */
function scalableCrd({ group, kind, plural }: Resource): V1CustomResourceDefinition {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const scale = {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
          subresources: { status: {}, scale },
        },
      ],
    },
  };
}
