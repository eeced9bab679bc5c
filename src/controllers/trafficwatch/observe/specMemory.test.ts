import { describe, expect, it } from 'vitest';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { NODES } from '../../../runtime/client/resources.ts';
import { reconcile } from '../reconcile.ts';
import { aWatch, KEY } from '../testing/observations.ts';
import { aNode, aScene, writesOf, type Scene } from '../testing/scene.ts';
import { SpecMemory } from './crdFields.ts';

const WORKERS = { matchLabels: { role: 'worker' } };
const metadata = (generation: number, uid = 'uid-web') => ({ uid, generation });
const whole = (generation = 1): TrafficWatch =>
  aWatch({ nodeSelector: WORKERS, minHold: '5m', metadata: metadata(generation) });
const pruned = (generation = 1, uid = 'uid-web'): TrafficWatch => aWatch({ metadata: metadata(generation, uid) });

describe('SpecMemory', () => {
  it('names fields that are gone from the same generation', () => {
    const memory = new SpecMemory();
    expect(memory.problemOf(whole(), true)).toBeUndefined();
    expect(memory.problemOf(pruned(), true)).toMatch(/dropped spec\.minHold, spec\.nodeSelector, .*; then apply the/);
    expect(memory.problemOf(whole(), true)).toBeUndefined();
  });

  it.each<[string, TrafficWatch]>([
    ['a user removed fields: another generation', pruned(2)],
    ['the object was deleted and created again', pruned(1, 'uid-other')],
    ['it is being deleted', aWatch({ metadata: { ...metadata(1), deletionTimestamp: new Date(0) } })],
  ])('finds nothing if %s', (_what, later) => {
    const memory = new SpecMemory();
    memory.problemOf(whole(), true);
    expect(memory.problemOf(later, true)).toBeUndefined();
  });

  it('remembers no spec while the CRD lacks fields', () => {
    const memory = new SpecMemory();
    memory.problemOf(pruned(), false);
    expect(memory.problemOf(whole(), true)).toBeUndefined();
    expect(memory.problemOf(pruned(), true)).toBeDefined();
  });

  it('forgets a deleted TrafficWatch', () => {
    const memory = new SpecMemory();
    memory.problemOf(whole(), true);
    memory.forget('shop/web');
    expect(memory.problemOf(pruned(), true)).toBeUndefined();
  });
});

describe('a spec that has lost its nodeSelector', () => {
  const aWorker = () => ({ ...aNode('n1'), otherLabels: { keys: ['role'], values: ['worker'] } });
  /** Decided with the selector, which excludes n2; then the field is gone. */
  async function lost(): Promise<Scene> {
    const scene = aScene();
    scene.watches.set(aWatch({ nodeSelector: WORKERS }));
    scene.nodes.set(aWorker());
    await reconcile(scene, 'shop/web');
    expect(await labelOf(scene, 'n2')).toBeUndefined();
    const { metadata: stored, status } = await storedIn(scene);
    scene.watches.set(aWatch({ metadata: stored, status: status! }));
    return scene;
  }
  const storedIn = ({ api }: Scene) => api.get(TRAFFIC_WATCHES, { namespace: 'shop', name: 'web' });
  const labelOf = async ({ api }: Scene, name: string) => (await api.get(NODES, { name })).metadata?.labels?.[KEY];

  it('stalls, and writes only the status', async () => {
    const scene = await lost();
    const before = writesOf(scene).length;
    await reconcile(scene, 'shop/web');
    expect(writesOf(scene).slice(before)).toEqual(['patch TrafficWatch/status']);
    expect(scene.told).toContainEqual(['Warning', 'SpecFieldsLost']);
  });

  it('stalls in the next process too, with the same status, until the spec changes', async () => {
    const scene = await lost();
    await reconcile(scene, 'shop/web');
    const status = (await storedIn(scene)).status!;
    const next = aScene();
    next.nodes.set(aWorker());
    next.watches.set(aWatch({ status }));
    await reconcile(next, 'shop/web');
    expect(writesOf(next)).toEqual([]);
    next.watches.set(aWatch({ status, metadata: { generation: 2 } }));
    await reconcile(next, 'shop/web');
    expect(writesOf(next)).toContain('patch Node');
  });

  it('reads the schema at once, and names the CRD if it is the cause', async () => {
    const scene = await lost();
    scene.crd.refresh = () => {
      scene.crd.problem = 'drops spec.nodeSelector';
      return Promise.resolve();
    };
    await reconcile(scene, 'shop/web');
    expect(scene.told).toContainEqual(['Warning', 'CrdOutdated']);
  });
});
