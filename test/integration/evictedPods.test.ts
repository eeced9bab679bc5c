import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { resourcePath } from '../../src/runtime/client/resource.ts';
import { PODS } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';
import { unfitKey } from '../harness/unfitKey.ts';
import { aPod, notUnfit, required, WAIT } from './injection/world.ts';

/** Evictions as a descheduler sends them, to a real API server. There are no kubelets: the test ends the pods as they do. */
const PERSON = { fieldManager: 'person', subresource: 'status' } as const;

let f: Fixture;
let c: Connected;

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  c = connect(f.controlPlane);
  f.exporter.setPercent('n1', 60);
  await f.startOperator();
  const podSelector = { matchLabels: { app: 'db' } };
  await f.createWatch('db', { maxBandwidthPercent: '10', placement: 'Required', podSelector });
  await vi.waitFor(async () => expect(await f.labels(unfitKey('db'))).toEqual({ n1: 'true', n2: 'false' }), WAIT);
});
afterAll(async () => {
  await c.transport.close();
  await f.stop();
});

const refOf = (name: string) => ({ namespace: 'default', name });

/** A pod that runs there as if it had been scheduled before the node turned unfit. */
async function run(name: string, nodeName: string): Promise<void> {
  const affinity = required([{ matchExpressions: [notUnfit('db')] }]);
  await f.client.create(PODS, aPod(name, { app: 'db' }, { nodeName, affinity }));
  await f.client.mergePatch(PODS, refOf(name), { status: { phase: 'Running' } }, PERSON);
}

async function evict(name: string): Promise<V1Pod> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: refOf(name) };
  await c.transport.request({ method: 'POST', path: resourcePath(PODS, refOf(name), 'eviction'), body });
  return f.client.get(PODS, refOf(name));
}

/** Sets the phase and deletes the pod right after that, as a kubelet does once the containers have ended. */
async function end(name: string, phase: 'Failed' | 'Succeeded'): Promise<void> {
  await f.client.mergePatch(PODS, refOf(name), { status: { phase } }, PERSON);
  const query = { gracePeriodSeconds: '0' };
  await c.transport.request({ method: 'DELETE', path: resourcePath(PODS, refOf(name)), query });
}

const evictionsOf = async () => (await f.events('db')).filter(({ reason }) => reason === 'PodsEvicted');

it('pods that are evicted from an unfit node are one event on the TrafficWatch', async () => {
  for (const name of ['db-0', 'db-1', 'db-deleted']) await run(name, 'n1');
  await run('db-fit', 'n2');
  for (const name of ['db-0', 'db-1', 'db-fit']) {
    const { metadata, status } = await evict(name);
    expect(metadata?.deletionTimestamp).toBeDefined();
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }),
    );
  }
  await end('db-0', 'Failed');
  await end('db-1', 'Succeeded');
  await end('db-fit', 'Failed');
  await end('db-deleted', 'Failed');
  await vi.waitFor(async () => expect(await evictionsOf()).toHaveLength(1), WAIT);
  expect((await evictionsOf())[0]).toMatchObject({
    type: 'Warning',
    note:
      '2 pods were evicted from an unfit node: n1 (2); to keep a descheduler from moving pods, set spec.placement to ' +
      'AtCreation or Preferred, or exclude the pods from its plugin RemovePodsViolatingNodeAffinity (docs/descheduler.md)',
  });
});
