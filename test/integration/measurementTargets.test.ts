import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { CHANGE_INTERVAL_MS } from '../../src/controllers/measurement/decide/targets.ts';
import { PODS } from '../../src/runtime/resources.ts';
import { startControlPlane } from './controlPlane.ts';
import type { ControlPlane } from './controlPlane.ts';
import { createBench } from './measurementBench.ts';
import type { Bench } from './measurementBench.ts';

let plane: ControlPlane;
let bench: Bench;
let count = 0;

beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());
beforeEach(async () => {
  bench = await createBench(plane, `op-${++count}`);
});
afterEach(() => bench.close());

describe('targets', () => {
  const pod = (): Promise<V1Pod> => bench.client.get(PODS, { namespace: bench.namespace, name: 'prometheus-x' });

  it('are written at once for the first node, and told to the kubelet by a change of the pod', async () => {
    await bench.addPrometheusPod('prometheus-x');
    bench.start();
    await bench.deployed();
    await bench.lookAgain();
    const before = (await pod()).metadata!.annotations;
    await bench.putSlice('a', { one: '10.0.0.1' });
    await vi.waitFor(async () => expect(await bench.targets()).toEqual({ one: '10.0.0.1:9100' }), 1_000);
    await vi.waitFor(async () => expect((await pod()).metadata!.annotations).not.toEqual(before), 1_000);
  });

  it('are written at most once in ten seconds however many nodes join, and miss none', async () => {
    bench.start();
    await bench.deployed();
    await bench.putSlice('a', { 'node-0': '10.0.0.0' });
    await vi.waitFor(async () => expect(await bench.targets()).toEqual({ 'node-0': '10.0.0.0:9100' }), 1_000);
    const isTargets = (write: string): boolean => write.endsWith('/prometheus-targets');
    const before = bench.writes.filter(isTargets).length;
    for (let node = 1; node <= 20; node++) await bench.putSlice(`s-${node}`, { [`node-${node}`]: `10.0.0.${node}` });
    await vi.waitFor(async () => expect(Object.keys(await bench.targets())).toHaveLength(21), {
      timeout: CHANGE_INTERVAL_MS + 2_000,
      interval: 100,
    });
    expect(bench.writes.filter(isTargets).length - before).toBe(1);
  });

  it('may have IPv6 addresses, and go when their nodes go', async () => {
    bench.start();
    await bench.deployed();
    await bench.putSlice('six', { one: 'fd00::1' }, 'IPv6');
    await vi.waitFor(async () => expect(await bench.targets()).toEqual({ one: '[fd00::1]:9100' }), 1_000);
    await bench.putSlice('six', {}, 'IPv6');
    await vi.waitFor(async () => expect(await bench.targets()).toEqual({}), { timeout: CHANGE_INTERVAL_MS + 2_000 });
  });
});
