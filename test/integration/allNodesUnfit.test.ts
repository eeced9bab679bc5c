import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { expectApplied } from '../harness/applied.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';

/** A TrafficWatch while every node is over its threshold, on a real API server and Prometheus. */
const WAIT = { timeout: 90_000, interval: 200 };
const KEY = 'web.traffic.example.com/unfit';

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  await f.startOperator();
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual({ n1: 'false', n2: 'false' }), WAIT);
});
afterAll(async () => {
  await f.stop();
});

describe('when all nodes are over the threshold', () => {
  it('all are Unfit, one event says so, and the Deployment is not touched, so that running pods stay', async () => {
    const generation = async () => {
      const found = await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'web' });
      expectApplied(found);
      return found.metadata?.generation;
    };
    const before = await vi.waitFor(generation, WAIT);
    for (const node of ['n1', 'n2']) f.exporter.setPercent(node, 60);
    await vi.waitFor(async () => {
      expect(await f.labels(KEY)).toEqual({ n1: 'true', n2: 'true' });
      expect((await f.watch('web')).status).toMatchObject({ ready: true, fitNodes: 0, unfitNodes: 2, unknownNodes: 0 });
      const told = (await f.events('web')).filter((event) => event.reason === 'AllNodesUnfit');
      expect(told.map(({ type, note }) => [type, note])).toEqual([
        ['Warning', 'every node is unfit: running pods are not moved, new pods find no node'],
      ]);
    }, WAIT);
    expect(await generation()).toBe(before);
  });
});
