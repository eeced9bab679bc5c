import { describe, expect, it, vi } from 'vitest';
import { type Client, countingWrites } from './client.ts';
import { NODES } from './resources.ts';

const ref = { name: 'a' };
const options = { fieldManager: 'm' };

describe('countingWrites', () => {
  const inner = {
    get: vi.fn().mockResolvedValue({}),
    list: vi.fn().mockResolvedValue([]),
    create: vi.fn().mockResolvedValue({}),
    apply: vi.fn().mockResolvedValue({}),
    mergePatch: vi.fn().mockResolvedValue({ metadata: ref }),
    jsonPatch: vi.fn().mockResolvedValue({ metadata: ref }),
    delete: vi.fn().mockResolvedValue(undefined),
  };

  it('counts each successful write by kind and verb, and returns its result', async () => {
    const wrote = vi.fn();
    const client = countingWrites(inner, { wrote });
    await client.get(NODES, ref);
    await client.list(NODES);
    await client.create(NODES, {});
    await client.apply(NODES, {}, options);
    await client.apply(NODES, {}, { ...options, dryRun: true });
    expect(await client.mergePatch(NODES, ref, {}, options)).toEqual({ metadata: ref });
    expect(await client.jsonPatch(NODES, ref, [], options)).toEqual({ metadata: ref });
    await client.delete(NODES, ref);
    expect(wrote.mock.calls.map(([kind, verb]) => `${kind} ${verb}`)).toEqual([
      'Node create',
      'Node apply',
      'Node patch',
      'Node patch',
      'Node delete',
    ]);
    expect(inner.mergePatch).toHaveBeenCalledExactlyOnceWith(NODES, ref, {}, options);
  });

  it('does not count a failed write', async () => {
    const wrote = vi.fn();
    inner.create.mockRejectedValueOnce(new Error('no'));
    await expect(countingWrites(inner as unknown as Client, { wrote }).create(NODES, {})).rejects.toThrow('no');
    expect(wrote).not.toHaveBeenCalled();
  });
});
