import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Client } from '../client/client.ts';
import { ApiError } from '../client/errors.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from './finalizer.ts';
import type { KubeObject } from '../client/resource.ts';
import { CONFIG_MAPS } from '../client/resources.ts';

const OURS = 'traffic.example.com/node-labels';
const mergePatch = vi.fn<(...call: unknown[]) => Promise<unknown>>();
const client = { mergePatch } as unknown as Client;

function withFinalizers(...finalizers: string[]): KubeObject {
  return { metadata: { name: 'a', namespace: 'team', uid: 'u', resourceVersion: '7', finalizers } };
}

function refusal(status: number, reason: string): ApiError {
  return new ApiError({ status, reason, method: 'PATCH', path: '/' });
}

beforeEach(() => void mergePatch.mockReset());

describe('addFinalizer', () => {
  it('adds it behind those of others, on the condition that nothing has changed', async () => {
    await addFinalizer(client, CONFIG_MAPS, withFinalizers('other'), OURS, 'm');
    expect(mergePatch).toHaveBeenCalledExactlyOnceWith(
      CONFIG_MAPS,
      { namespace: 'team', name: 'a' },
      { metadata: { uid: 'u', resourceVersion: '7', finalizers: ['other', OURS] } },
      { fieldManager: 'm' },
    );
  });

  it('writes nothing when it is there', async () => {
    const object = withFinalizers(OURS);
    expect(await addFinalizer(client, CONFIG_MAPS, object, OURS, 'm')).toBe(object);
    expect(mergePatch).not.toHaveBeenCalled();
  });
});

describe('removeFinalizer', () => {
  it('takes off ours and leaves those of others', async () => {
    await removeFinalizer(client, CONFIG_MAPS, withFinalizers('other', OURS), OURS, 'm');
    expect(mergePatch.mock.calls[0]![2]).toEqual({
      metadata: { uid: 'u', resourceVersion: '7', finalizers: ['other'] },
    });
  });

  it('writes nothing when it is not there', async () => {
    await removeFinalizer(client, CONFIG_MAPS, { metadata: { name: 'a' } }, OURS, 'm');
    expect(mergePatch).not.toHaveBeenCalled();
  });

  it('is content when the object is gone, and tells of a conflict', async () => {
    mergePatch.mockRejectedValueOnce(refusal(404, 'NotFound')).mockRejectedValueOnce(refusal(409, 'Conflict'));
    await removeFinalizer(client, CONFIG_MAPS, withFinalizers(OURS), OURS, 'm');
    await expect(removeFinalizer(client, CONFIG_MAPS, withFinalizers(OURS), OURS, 'm')).rejects.toThrow('Conflict');
  });
});

describe('hasFinalizer', () => {
  it('reads the list, which may be absent', () => {
    expect(hasFinalizer(withFinalizers(OURS), OURS)).toBe(true);
    expect(hasFinalizer(withFinalizers('other'), OURS)).toBe(false);
    expect(hasFinalizer({}, OURS)).toBe(false);
  });
});
