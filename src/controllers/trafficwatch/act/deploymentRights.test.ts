import { describe, expect, it } from 'vitest';
import type { TrafficWatchStatus } from '../../../api/trafficwatch/schema.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { refusal, type Call } from '../../../runtime/testing/fakeApi/fakeApi.ts';
import { refuseOn } from '../../../runtime/testing/fakeApi/overrides.ts';
import { FINALIZER } from '../names.ts';
import { reconcile } from '../reconcile.ts';
import { aWatch, KEY, NOW } from '../testing/observations.ts';
import { aNode, aScene, writesOf, type Scene } from '../testing/scene.ts';

const cannot = (verb: string): string => `User "x" cannot ${verb} resource "deployments" in API group "apps"`;
const forbidden = (call: Call, verb: string) => refusal(call, 403, 'Forbidden', cannot(verb));

function conditionOf(scene: Scene, of: string) {
  const status = scene.api.calls.filter((call) => call.what === 'TrafficWatch/status').at(-1)?.body;
  return (status as { status: TrafficWatchStatus }).status.conditions?.find(({ type }) => type === of);
}
const reconciling = (scene: Scene) => conditionOf(scene, 'Reconciling');

describe('without the right to watch Deployments', () => {
  const call: Call = { verb: 'get', resource: DEPLOYMENTS, what: 'Deployment', name: 'web', namespace: 'shop' };

  it('everything is written, and the condition names the missing right', async () => {
    const scene = aScene();
    const sources = { ...scene.sources, deploymentsRefusal: () => forbidden(call, 'watch') };
    await reconcile({ ...scene, sources }, 'shop/web');

    expect(writesOf(scene)).toEqual(expect.arrayContaining(['patch Node', 'apply Deployment']));
    expect(reconciling(scene)).toMatchObject({ status: 'True', reason: 'Forbidden' });
    expect(reconciling(scene)?.message).toBe(`watching Deployments: ${cannot('watch')}`);
    expect(conditionOf(scene, 'Ready')).toMatchObject({ status: 'True' });
  });

  it('nodes and the Deployment are not written again while nothing changes', async () => {
    const scene = aScene();
    const sources = { ...scene.sources, deploymentsRefusal: () => forbidden(call, 'watch') };
    await reconcile({ ...scene, sources }, 'shop/web');
    const written = writesOf(scene).length;
    await reconcile({ ...scene, sources }, 'shop/web');

    const again = writesOf(scene).slice(written);
    expect(again.filter((write) => !write.includes('TrafficWatch'))).toEqual([]);
  });
});

describe('where the operator may not write Deployments', () => {
  const notAllowed = (scene: Scene) => ({
    ...scene,
    sources: { ...scene.sources, allowedDeployments: { enabled: true, namespaces: ['lab'] } },
  });

  it('sends no request about the Deployment, writes no label, and says in the status what to do', async () => {
    const scene = aScene();
    await reconcile(notAllowed(scene), 'shop/web');

    expect(scene.api.calls.filter(({ what }) => what === 'Deployment')).toEqual([]);
    expect(writesOf(scene)).toEqual(['patch TrafficWatch/status']);
    expect(conditionOf(scene, 'Stalled')).toMatchObject({ status: 'True', reason: 'DeploymentsNotAllowed' });
    expect(conditionOf(scene, 'Stalled')!.message).toMatch(/trafficWatch\.deployments\.namespaces/);
  });

  it('labels that the TrafficWatch had before follow the traffic: its Deployment schedules by them', async () => {
    const scene = aScene();
    scene.watches.set(aWatch({ metadata: { finalizers: [FINALIZER] }, status: { labelKey: KEY, decided: true } }));
    await reconcile(notAllowed(scene), 'shop/web');

    expect(scene.api.calls.filter(({ what }) => what === 'Deployment')).toEqual([]);
    expect(writesOf(scene)).toEqual(['patch Node', 'patch Node', 'patch TrafficWatch/status']);
    expect(conditionOf(scene, 'Stalled')).toMatchObject({ status: 'True', reason: 'DeploymentsNotAllowed' });
    expect(conditionOf(scene, 'Ready')).toMatchObject({ status: 'False' });
  });

  it('removes labels and finalizer of a TrafficWatch that is being deleted, and leaves its Deployment', async () => {
    const scene = aScene();
    scene.nodes.set(aNode('n1', { [KEY]: 'true' }, [KEY]));
    const metadata = { finalizers: [FINALIZER], deletionTimestamp: new Date(NOW) };
    scene.watches.set(aWatch({ metadata, status: { labelKey: KEY, decided: true } }));
    await reconcile(notAllowed(scene), 'shop/web');

    expect(scene.api.calls.filter(({ what }) => what === 'Deployment')).toEqual([]);
    expect(writesOf(scene)).toEqual(['patch Node', 'patch TrafficWatch']);
  });
});

describe('without the right to get Deployments, with an empty cache', () => {
  const refuse = (call: Call) => (call.verb === 'get' ? forbidden(call, 'get') : undefined);

  it('nodes are labelled, the Deployment is not touched, and the condition names the missing right', async () => {
    const scene = aScene();
    refuseOn(scene.api, refuse);
    await reconcile(scene, 'shop/web');

    const writes = writesOf(scene);
    expect(writes.filter((write) => write === 'patch Node')).toHaveLength(2);
    expect(writes.filter((write) => write.endsWith(' Deployment'))).toEqual([]);
    expect(reconciling(scene)).toMatchObject({ status: 'True', reason: 'Forbidden' });
    expect(reconciling(scene)?.message).toBe(`looking for the Deployment: ${cannot('get')}`);
  });

  it('a rename removes no label that a Deployment may schedule by', async () => {
    const OLD = 'old.traffic.example.com/unfit';
    const scene = aScene();
    scene.watches.set(aWatch({ status: { labelKey: OLD, ready: true } }));
    for (const name of ['n1', 'n2']) scene.nodes.set(aNode(name, { [OLD]: 'true', [KEY]: 'true' }, [OLD, KEY]));
    refuseOn(scene.api, refuse);
    await reconcile(scene, 'shop/web');

    const patched = scene.api.calls
      .filter(({ what, verb }) => what === 'Node' && verb === 'patch')
      .map(({ body }) => body);
    expect(JSON.stringify(patched)).not.toContain(`"${OLD}":null`);
  });
});
