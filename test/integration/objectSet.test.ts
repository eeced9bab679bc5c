import type { V1ConfigMap, V1Namespace, V1Service, V1ServiceAccount } from '@kubernetes/client-node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { resourcePath } from '../../src/runtime/client/resource.ts';
import { CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS } from '../../src/runtime/client/resources.ts';
import type { ObjectSet } from '../../src/runtime/objectSet/objectSet.ts';
import type { SwitchedOff } from '../../src/runtime/objectSet/plan.ts';
import { useConnectedPlane } from './connectedPlane.ts';
import { keep, liveOf, madeUpSet, type Group, type Keeper } from './objectSetScene.ts';

const PERSON = { fieldManager: 'person' };

const scene = useConnectedPlane();

describe('a set of objects on a real API server', () => {
  let count = 0;
  let keeper: Keeper | undefined;
  afterEach(() => keeper?.stop());

  const newName = (): string => `set-${++count}`;
  const start = async (set: ObjectSet<Group>, off?: SwitchedOff<Group>): Promise<Keeper> => {
    await keeper?.stop();
    return (keeper = await keep(scene.connected, set, off));
  };
  const inOrder = (name: string): string[] => [
    `Namespace ${name}`,
    `ConfigMap default/${name}`,
    `Service ${name}/${name}`,
    `ServiceAccount ${name}/${name}`,
  ];
  const made = async (name: string): Promise<Keeper> => {
    const running = await start(madeUpSet(name));
    await vi.waitFor(async () => {
      expect(running.writes).toHaveLength(4);
      expect(await running.isCurrent()).toBe(true);
    });
    // A pass that began before the caches were current may still write.
    await running.lookAgain();
    return running;
  };

  it('is created in the order of its dependencies; neither this process nor the next writes again', async () => {
    const name = newName();
    const first = await made(name);
    expect(first.writes).toEqual(inOrder(name).map((id) => `apply ${id}`));
    first.forget();
    await first.lookAgain();
    expect(first.writes).toEqual([]);
    const second = await start(madeUpSet(name));
    await second.lookAgain();
    expect(second.writes).toEqual([]);
  });

  it('is corrected if another client changes or deletes an object', async () => {
    const name = newName();
    const set = madeUpSet(name);
    const running = await made(name);
    running.forget();
    const { client } = scene.connected;
    await client.mergePatch(CONFIG_MAPS, { namespace: 'default', name }, { data: { colour: 'blue' } }, PERSON);
    await vi.waitFor(async () =>
      expect(await liveOf<V1ConfigMap>(scene.connected, set, 'ConfigMap')).toMatchObject({ data: { colour: 'red' } }),
    );
    const before = await liveOf<V1ServiceAccount>(scene.connected, set, 'ServiceAccount');
    await client.delete(SERVICE_ACCOUNTS, { namespace: name, name });
    await vi.waitFor(async () => {
      const { metadata } = await liveOf<V1ServiceAccount>(scene.connected, set, 'ServiceAccount');
      expect(metadata?.uid).not.toBe(before.metadata?.uid);
    });
    expect(running.writes).toEqual([`apply ConfigMap default/${name}`, `apply ServiceAccount ${name}/${name}`]);
  });

  it('does not change a foreign object, names it, and creates the others', async () => {
    const name = newName();
    const set = madeUpSet(name);
    const theirs = { metadata: { namespace: 'default', name }, data: { colour: 'green' } };
    const { metadata } = await scene.connected.client.create(CONFIG_MAPS, theirs);
    const running = await start(set);
    await vi.waitFor(() => expect(running.writes).toHaveLength(3));
    await running.lookAgain();
    expect(running.problems).toEqual([`ForeignObject ConfigMap default/${name}`]);
    expect(running.writes).toEqual(
      inOrder(name)
        .filter((id) => !id.startsWith('ConfigMap'))
        .map((id) => `apply ${id}`),
    );
    const now = await liveOf<V1ConfigMap>(scene.connected, set, 'ConfigMap');
    expect(now.metadata?.resourceVersion).toBe(metadata?.resourceVersion);
    await (await start(set, 'all')).lookAgain();
    expect(await liveOf<V1ConfigMap>(scene.connected, set, 'ConfigMap')).toMatchObject({ data: theirs.data });
  });

  it('creates nothing that depends on an object that the API server refuses, and creates the others', async () => {
    const name = newName();
    const set = madeUpSet(name, { 'no key of a ConfigMap': '' });
    const running = await start(set);
    await vi.waitFor(async () => expect(await liveOf(scene.connected, set, 'ServiceAccount')).toBeDefined());
    await running.lookAgain();
    expect(running.problems).toEqual([`WriteFailed ConfigMap default/${name}`]);
    await expect(liveOf<V1Service>(scene.connected, set, 'Service')).rejects.toMatchObject({ reason: 'NotFound' });
  });

  it('loses a group that is switched off, and no other object', async () => {
    const name = newName();
    await made(name);
    const running = await start(madeUpSet(name), new Set<Group>(['web']));
    await running.lookAgain();
    expect(running.writes).toEqual([`delete Service ${name}/${name}`]);
  });

  it('is removed in reverse order, except a Namespace with objects of others, and can be created again', async () => {
    const name = newName();
    const set = madeUpSet(name);
    await made(name);
    const { client, transport } = scene.connected;
    await client.create(CONFIG_MAPS, { metadata: { namespace: name, name: 'theirs' } });
    const removing = await start(set, 'all');
    await vi.waitFor(() => expect(removing.problems).toEqual([`NamespaceKept Namespace ${name}`]));
    await client.delete(CONFIG_MAPS, { namespace: name, name: 'theirs' });
    await vi.waitFor(async () => {
      await removing.lookAgain();
      const { metadata } = await liveOf<V1Namespace>(scene.connected, set, 'Namespace');
      expect(metadata?.deletionTimestamp).toBeDefined();
    });
    expect(removing.writes).toEqual(
      inOrder(name)
        .toReversed()
        .map((id) => `delete ${id}`),
    );

    const again = await start(set);
    await again.lookAgain();
    expect([again.waiting, again.writes]).toEqual([true, [`apply ConfigMap default/${name}`]]);
    // Done by the namespace controller once the namespace is empty.
    const body = { kind: 'Namespace', apiVersion: 'v1', metadata: { name }, spec: {} };
    await transport.request({ method: 'PUT', path: resourcePath(NAMESPACES, { name }, 'finalize'), body });
    await vi.waitFor(() =>
      expect(again.writes).toEqual([
        `apply ConfigMap default/${name}`,
        ...inOrder(name)
          .filter((id) => !id.startsWith('ConfigMap'))
          .map((id) => `apply ${id}`),
      ]),
    );
  });
});
