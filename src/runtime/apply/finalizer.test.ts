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
  it('adds it behind those of others, on the condition that nothing has changed', async () => {
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

  it('writes nothing when it is there', async () => {
    const object = withFinalizers(OURS);
    const api = new FakeApi(object);
    expect(await addFinalizer(api, CONFIG_MAPS, object, OURS, 'm')).toBe(object);
    expect(api.calls).toEqual([]);
  });
});

describe('removeFinalizer', () => {
  it('takes off ours and leaves those of others', async () => {
    const object = withFinalizers('other', OURS);
    const api = new FakeApi(object);
    await removeFinalizer(api, CONFIG_MAPS, object, OURS, 'm');
    expect(api.calls.map(({ body }) => body)).toEqual([
      { metadata: { uid: 'u', resourceVersion: '7', finalizers: ['other'] } },
    ]);
  });

  it('writes nothing when it is not there', async () => {
    const api = new FakeApi();
    await removeFinalizer(api, CONFIG_MAPS, { metadata: { name: 'a' } }, OURS, 'm');
    expect(api.calls).toEqual([]);
  });

  it('is content when the object is gone, and tells of a conflict', async () => {
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
