import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { V1Deployment } from '@kubernetes/client-node';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { DEPLOYMENTS } from '../../../src/runtime/client/resources.ts';
import { NODE } from './kubelet.ts';
import { component, PERSON, startScene, WAIT, type StackScene } from './scene.ts';

/** A stack with what is not its own, while it is deleted. */
const USER = 'stack-remover';
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
});
afterAll(() => s.stop());

const EXTERNAL: ComponentSpec = {
  ...{ name: 'mid', type: 'Workload', mode: 'External', dependsOn: ['db'] },
  workload: { kind: 'Deployment', namespace: 'default' },
};

function deployment(name: string, labels: Record<string, string>): V1Deployment {
  const spec = { nodeName: NODE, terminationGracePeriodSeconds: 0, containers: [{ name, image: `${name}:1` }] };
  return {
    metadata: { namespace: 'default', name, labels },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}
const availableOf = async (name: string) =>
  (await s.f.client.get(DEPLOYMENTS, { namespace: 'default', name })).status?.availableReplicas;

it('is removed in the reverse order across an External component, and waits for no pods of a copy', async () => {
  await s.f.client.create(DEPLOYMENTS, deployment('mid', { app: 'theirs' }));
  await s.create('main', [component('db'), EXTERNAL, component('web', { dependsOn: ['mid'] })]);
  await s.ready();
  const web = await s.f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'web' });
  await s.f.client.create(DEPLOYMENTS, deployment('copy', web.spec?.template.metadata?.labels ?? {}));
  await vi.waitFor(async () => expect(await availableOf('copy')).toBe(1), WAIT);
  const hold = (finalizers: string[]) =>
    s.f.client.mergePatch(DEPLOYMENTS, { namespace: 'default', name: 'web' }, { metadata: { finalizers } }, PERSON);
  await hold(['example.com/hold']);
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await s.becomes('db', { message: 'waits for web, which depends on it and is not gone yet' });
  expect(s.deletions()).toEqual(['web']);
  await hold([]);
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  expect(s.deletions()).toEqual(['web', 'db']);
  expect(await s.workloads()).toEqual(['copy', 'mid']);
});
