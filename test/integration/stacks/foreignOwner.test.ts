import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { V1ObjectMeta, V1ReplicaSet } from '@kubernetes/client-node';
import type { Resource } from '../../../src/runtime/client/resource.ts';
import { DEPLOYMENTS } from '../../../src/runtime/client/resources.ts';
import { kubectl } from '../../harness/kubectl.ts';
import { sleep } from '../../harness/measured.ts';
import { component, startScene, WAIT, type StackScene } from './scene.ts';

/** Objects of others that a stack wants: each is refused with the name of whose it is, and stays as it is. */
const USER = 'stack-refused';
const REPLICA_SETS: Resource<V1ReplicaSet> = {
  ...{ group: 'apps', version: 'v1', kind: 'ReplicaSet', plural: 'replicasets', namespaced: true },
};
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
});
afterAll(() => s.stop());

const get = (name: string) => s.f.client.get(DEPLOYMENTS, { namespace: 'default', name });

function create(metadata: V1ObjectMeta, fieldManager: string) {
  const labels = { app: metadata.name ?? '' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'x', image: 'x:1' }] } };
  const spec = { replicas: 0, selector: { matchLabels: labels }, template };
  return s.f.client.create(DEPLOYMENTS, { metadata: { ...metadata, namespace: 'default' }, spec }, { fieldManager });
}

/** Until the controllers of Kubernetes have nothing to write to it any more. */
async function settled(name: string) {
  await vi.waitFor(async () => {
    const { metadata, status } = await get(name);
    expect(status?.observedGeneration).toBe(metadata?.generation);
    expect(status?.conditions?.find(({ type }) => type === 'Progressing')?.reason).toBe('NewReplicaSetAvailable');
  }, WAIT);
  await sleep(1_000);
  return (await get(name)).metadata;
}

/** A stack wants the Deployment of this name: it is refused, and the Deployment is as before. */
async function expectRefused(stack: string, name: string, owner: string): Promise<void> {
  const before = await settled(name);
  const written = s.writes().length;
  await s.create(stack, [component('mine', { workload: { name } }), component('after', { dependsOn: ['mine'] })]);
  const message = `Deployment default/${name} exists and is not of this stack, but of ${owner}: it is left as it is`;
  await s.becomes('mine', { state: 'Failed', reason: 'ForeignObject', message }, stack);
  expect(await s.condition('Stalled', stack)).toMatchObject({ status: 'True', reason: 'ForeignObject' });
  expect((await s.condition('Stalled', stack))?.message).toContain(message);
  expect(await s.component('after', stack)).toMatchObject({ state: 'Waiting', waitingOn: { component: 'mine' } });
  expect(s.writes().slice(written)).toEqual([]);
  expect((await get(name)).metadata).toEqual(before);
}

it('that of another stack, with its component', async () => {
  await s.create('main', [component('db')]);
  await s.ready('main');
  await expectRefused('second', 'db', 'the TrafficStack main, component db');
  expect(await s.component('db', 'main')).toMatchObject({ state: 'Ready' });
});

it('one of helm, with its release', async () => {
  const annotations = { 'meta.helm.sh/release-name': 'orders', 'meta.helm.sh/release-namespace': 'default' };
  await create({ name: 'orders', labels: { 'app.kubernetes.io/managed-by': 'Helm' }, annotations }, 'helm');
  await expectRefused('of-helm', 'orders', 'the helm release default/orders');
});

it('one with a controller of its own', async () => {
  await create({ name: 'parent' }, 'person');
  await settled('parent');
  const [replicaSet] = await s.f.client.list(REPLICA_SETS, { namespace: 'default', labelSelector: 'app=parent' });
  const { name = '', uid = '' } = replicaSet?.metadata ?? {};
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid, controller: true };
  await create({ name: 'child', ownerReferences: [owner] }, 'person');
  expect(name).toMatch(/^parent-/);
  await expectRefused('of-controller', 'child', `ReplicaSet ${name}`);
});

it('one that a person has made with kubectl', async () => {
  await kubectl(s.f.controlPlane, ['create', 'deployment', 'theirs', '--image=x:1', '--replicas=0']);
  await expectRefused('of-person', 'theirs', 'the field manager kubectl-create');
});
