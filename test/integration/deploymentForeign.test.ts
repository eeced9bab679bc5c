import type { V1Deployment } from '@kubernetes/client-node';
import { beforeEach, describe, expect, it } from 'vitest';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { renderDeployment, type WithDeployment } from '../../src/controllers/trafficwatch/decide/deployment.ts';
import { reconcile } from '../../src/controllers/trafficwatch/reconcile.ts';
import { aWatch, KEY } from '../../src/controllers/trafficwatch/testing/observations.ts';
import { aScene, type Scene } from '../../src/controllers/trafficwatch/testing/scene.ts';
import type { Client } from '../../src/runtime/client/client.ts';
import { isNotFound, WaitingError } from '../../src/runtime/client/errors.ts';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { expectApplied } from '../harness/applied.ts';
import { useConnectedPlane } from './connectedPlane.ts';
import { installCrd } from '../harness/customResource.ts';

/** Another client creates a Deployment of the TrafficWatch's name between the operator's read and its write. */
const plane = useConnectedPlane(({ client }) => installCrd(client));
const SOMEBODY = { metadata: { labels: { by: 'somebody' } } };

let count = 0;
let ref: { namespace: string; name: string };
/** Runs once, after the operator has read the Deployment and before it writes. */
let meanwhile: (() => Promise<unknown>) | undefined;
/** Runs before each write of field owners, as kube-controller-manager does while pods are started. */
let writeStatus: (() => Promise<unknown>) | undefined;
let writes: string[];

beforeEach(() => {
  ref = { namespace: 'default', name: `web-${++count}` };
  meanwhile = undefined;
  writeStatus = undefined;
  writes = [];
});

const live = (): Promise<V1Deployment> => plane.connected.client.get(DEPLOYMENTS, ref);
const makeForeign = (): Promise<V1Deployment> =>
  plane.connected.client.create(DEPLOYMENTS, {
    metadata: { ...ref, ...SOMEBODY.metadata },
    spec: aWatch().spec.deployment,
  });

async function once(): Promise<void> {
  const act = meanwhile;
  meanwhile = undefined;
  await act?.();
}

/** The real client, which runs `meanwhile` after a read of the Deployment. */
function racingClient(): Client {
  const { client } = plane.connected;
  return {
    ...client,
    get: async (resource, name, options) => {
      try {
        return await client.get(resource, name, options);
      } catch (error) {
        if (isNotFound(error)) await once();
        throw error;
      }
    },
    create: (resource, object, options) => {
      writes.push(`create ${resource.kind}`);
      return client.create(resource, object, options);
    },
    jsonPatch: async (resource, name, operations, options) => {
      await writeStatus?.();
      return client.jsonPatch(resource, name, operations, options);
    },
    apply: async (resource, object, options) => {
      await once();
      writes.push(`apply ${resource.kind}`);
      return client.apply(resource, object, options);
    },
  };
}

function sceneOf(watch: TrafficWatch): Scene {
  const scene = aScene(racingClient());
  for (const node of scene.nodes.list()) scene.nodes.delete(node);
  scene.watches.delete(aWatch());
  scene.watches.set(watch);
  return scene;
}

async function createScene(): Promise<Scene> {
  const { spec } = aWatch();
  return sceneOf(await plane.connected.client.create(TRAFFIC_WATCHES, { metadata: ref, spec }));
}

/** As after a restart: nothing is remembered, and the cache is current. */
async function restarted(): Promise<Scene> {
  const scene = sceneOf(await plane.connected.client.get(TRAFFIC_WATCHES, ref));
  writes = [];
  return scene;
}

/** The Deployment exists, and the spec differs. */
async function edited(): Promise<Scene> {
  await reconcile(await createScene(), key());
  const scene = await restarted();
  const { spec } = aWatch();
  const deployment = { ...spec.deployment, minReadySeconds: 7 };
  scene.watches.set({ ...scene.watches.get(key())!, spec: { ...spec, deployment } });
  return scene;
}

/** The result of the first write. */
const made = (scene: Scene): V1Deployment => renderDeployment(scene.watches.get(key()) as WithDeployment, KEY);
const key = (): string => `${ref.namespace}/${ref.name}`;
const owners = ({ metadata }: V1Deployment): string[] =>
  (metadata?.managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`);

describe('a Deployment of another client that appears between read and write', () => {
  it('is not changed, and the next reconcile reports it', async () => {
    const scene = await createScene();
    let foreign: V1Deployment | undefined;
    meanwhile = async () => (foreign = await makeForeign());
    await expect(reconcile(scene, key())).rejects.toThrow(WaitingError);
    expect(await live()).toEqual(foreign);
    expect(writes).toEqual(['create Deployment']);
    expect(scene.told).toEqual([]);
    await reconcile(scene, key());
    expect(await live()).toEqual(foreign);
    const { status } = await plane.connected.client.get(TRAFFIC_WATCHES, ref);
    const stalled = status?.conditions?.find((c) => c.type === 'Stalled');
    expect(stalled).toMatchObject({ status: 'True', reason: 'DeploymentNotOwned' });
  });

  it('is not changed either if it replaced ours', async () => {
    const scene = await edited();
    let foreign: V1Deployment | undefined;
    meanwhile = async () => {
      await plane.connected.client.delete(DEPLOYMENTS, ref);
      foreign = await makeForeign();
    };
    await expect(reconcile(scene, key())).rejects.toThrow(WaitingError);
    expect(await live()).toEqual(foreign);
  });
});

describe('a Deployment of ours that is deleted between read and write', () => {
  it('is created again by the next reconcile', async () => {
    const scene = await edited();
    meanwhile = () => plane.connected.client.delete(DEPLOYMENTS, ref);
    await expect(reconcile(scene, key())).rejects.toThrow(WaitingError);
    await expect(live()).rejects.toMatchObject({ status: 404 });
    await reconcile(scene, key());
    expect((await live()).spec?.minReadySeconds).toBe(7);
  });
});

describe('a Deployment that no other client creates', () => {
  it('is created and applied although its status is written all the time', async () => {
    const scene = await createScene();
    let replicas = 0;
    const by = { fieldManager: 'kube-controller-manager', subresource: 'status' };
    writeStatus = () => plane.connected.client.mergePatch(DEPLOYMENTS, ref, { status: { replicas: ++replicas } }, by);
    await reconcile(scene, key());
    expect(replicas).toBeGreaterThan(0);
    expect(owners(await live()).sort()).toEqual(['kube-controller-manager Update', 'test Apply']);
    const reasons = scene.told.map(([, reason]) => reason).filter((reason) => /^Deployment|^Write/.test(reason));
    expect(reasons).toEqual(['DeploymentCreated']);
  });

  it('is completed by the next reconcile if the operator ended after the first write', async () => {
    const scene = await createScene();
    const { uid } = await plane.connected.client.create(DEPLOYMENTS, made(scene)).then(({ metadata }) => metadata!);
    await reconcile(scene, key());
    const now = await live();
    expect([now.metadata?.uid, writes, owners(now)]).toEqual([uid, ['apply Deployment'], ['test Apply']]);
  });

  it('is created and applied once, and neither the next reconcile nor a restart writes', async () => {
    const scene = await createScene();
    await reconcile(scene, key());
    const found = await live();
    expect(owners(found)).toEqual(['test Apply']);
    expectApplied(found);
    expect(scene.told).toContainEqual(['Normal', 'DeploymentCreated']);
    expect(writes).toEqual(['create Deployment', 'apply Deployment']);
    await reconcile(scene, key());
    expect(writes).toHaveLength(2);
    await reconcile(await restarted(), key());
    expect(writes).toEqual([]);
    expect(await live()).toEqual(found);
  });
});
