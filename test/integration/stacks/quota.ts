import { expect, vi } from 'vitest';
import type { V1ResourceQuota } from '@kubernetes/client-node';
import type { Resource } from '../../../src/runtime/client/resource.ts';
import { WAIT, type StackScene } from './scene.ts';

const QUOTAS: Resource<V1ResourceQuota> = {
  ...{ group: '', version: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas', namespaced: true },
};
const NAME = 'none';

/** Makes a quota `none`, and waits until its controller knows what is used. The scene has that: `resourcequota-controller`. */
export async function makeQuota(
  { f: { client } }: StackScene,
  namespace: string,
  hard: Record<string, string>,
): Promise<void> {
  const ref = { namespace, name: NAME };
  await client.create(QUOTAS, { metadata: ref, spec: { hard } });
  await vi.waitFor(async () => expect((await client.get(QUOTAS, ref)).status?.used).toBeDefined(), WAIT);
}

/** Deletes it. */
export async function removeQuota({ f: { client } }: StackScene, namespace: string): Promise<void> {
  await client.delete(QUOTAS, { namespace, name: NAME });
}
