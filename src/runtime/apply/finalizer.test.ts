import { describe, expect, it } from 'vitest';
import { addFinalizer, hasFinalizer, removeFinalizer } from './finalizer.ts';
import type { KubeObject } from '../client/resource.ts';
import { CONFIG_MAPS } from '../client/resources.ts';
import { FakeApi } from '../testing/fakeApi/fakeApi.ts';

const OURS = 'traffic.example.com/node-labels';

function withFinalizers(...finalizers: string[]): KubeObject {
  return {
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'team', uid: 'u', resourceVersion: '7', finalizers },
  };
}

describe('addFinalizer', () => {
  it('appends it, with uid and resource version as precondition', async () => {
    const object = withFinalizers('other');
    const api = new FakeApi(object);
    const after = await addFinalizer(api, CONFIG_MAPS, object, OURS, 'm');
    expect(after.metadata?.finalizers).toEqual(['other', OURS]);
    expect(api.calls).toEqual([
      {
        verb: 'patch',
        resource: CONFIG_MAPS,
        what: 'ConfigMap',
        namespace: 'team',
        name: 'a',
        body: { metadata: { uid: 'u', resourceVersion: '7', finalizers: ['other', OURS] } },
        options: { fieldManager: 'm' },
      },
    ]);
  });

  it('writes nothing if the object has it', async () => {
    const object = withFinalizers(OURS);
    const api = new FakeApi(object);
    expect(await addFinalizer(api, CONFIG_MAPS, object, OURS, 'm')).toBe(object);
    expect(api.calls).toEqual([]);
  });
});

describe('removeFinalizer', () => {
  it('removes it and keeps the others', async () => {
    const object = withFinalizers('other', OURS);
    const api = new FakeApi(object);
    await removeFinalizer(api, CONFIG_MAPS, object, OURS, 'm');
    expect(api.calls.map(({ body }) => body)).toEqual([
      { metadata: { uid: 'u', resourceVersion: '7', finalizers: ['other'] } },
    ]);
  });

  it('writes nothing if the object does not have it', async () => {
    const api = new FakeApi();
    await removeFinalizer(api, CONFIG_MAPS, { metadata: { name: 'a' } }, OURS, 'm');
    expect(api.calls).toEqual([]);
  });

  it('succeeds if the object does not exist, and throws a conflict', async () => {
    const read = withFinalizers(OURS);
    await removeFinalizer(new FakeApi(), CONFIG_MAPS, read, OURS, 'm');
    const changed = { ...read, metadata: { ...read.metadata, resourceVersion: '8' } };
    await expect(removeFinalizer(new FakeApi(changed), CONFIG_MAPS, read, OURS, 'm')).rejects.toThrow('Conflict');
  });
});

describe('hasFinalizer', () => {
  it('reads the list, which may be absent', () => {
    expect(hasFinalizer(withFinalizers(OURS), OURS)).toBe(true);
    expect(hasFinalizer(withFinalizers('other'), OURS)).toBe(false);
    expect(hasFinalizer({}, OURS)).toBe(false);
  });
});
