import { expect, it } from 'vitest';
import { ConfigMapBackend } from './configMap.ts';

const { signal } = new AbortController();
const read = (data: Record<string, string> | undefined | Error, key = 'weight') =>
  new ConfigMapBackend({ name: 'weights', key }, () =>
    data instanceof Error ? Promise.reject(data) : Promise.resolve(data),
  ).read(undefined, signal);

it.each([
  ['0', 0],
  ['255', 255],
  [' 75\n', 75],
  ['007', 7],
])('%j is %i', async (text, desired) => {
  expect(await read({ weight: text })).toEqual({ desired, current: undefined });
});

it('is the value of the key', async () => {
  expect(await read({ weight: '1', 'cluster-a': '2' }, 'cluster-a')).toMatchObject({ desired: 2 });
});

it.each([
  [{}, 'weight of the ConfigMap weights is absent: must be an integer from 0 to 255'],
  [{ weight: '' }, 'weight of the ConfigMap weights is "": must be an integer from 0 to 255'],
  [{ weight: '256' }, 'weight of the ConfigMap weights is "256": must be an integer from 0 to 255'],
  [{ weight: '-1' }, 'weight of the ConfigMap weights is "-1": must be an integer from 0 to 255'],
  [{ weight: '1e2' }, 'weight of the ConfigMap weights is "1e2": must be an integer from 0 to 255'],
])('%j is no weight', async (data, message) => {
  await expect(read(data)).rejects.toMatchObject({ reason: 'InvalidWeight', message });
});

it('a key that each object has is none', async () => {
  await expect(read({}, 'constructor')).rejects.toMatchObject({ reason: 'InvalidWeight' });
});

it.each([
  [undefined, 'there is no ConfigMap weights'],
  [new Error('configmaps "weights" is forbidden'), 'configmaps "weights" is forbidden'],
])('without it, the backend is unavailable', async (data, message) => {
  await expect(read(data)).rejects.toMatchObject({ reason: 'BackendUnavailable', message });
});
