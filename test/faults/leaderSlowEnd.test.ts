import { afterAll, beforeAll, expect, it } from 'vitest';
import { NAMESPACES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import type { Operator } from '../harness/operator.ts';
import { writesOf } from '../harness/audit.ts';
import { measured, seconds, until } from '../harness/measured.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { startApiProxy, type ApiProxy } from '../harness/proxy.ts';
import { SLACK } from '../harness/slack.ts';

/**
 * A leader gets SIGTERM while its calls hang: the next leader must not wait for them. A lease that is not given up ends
 * after 15 s.
 */
const TERMINATED_MS = Math.min(3 * SLACK, 12) * 1_000;
/** Longer than all of this takes: once the patches have come through, the next leader has nothing to write. */
const HANG_MS = 300_000;
const NODES = ['n1', 'n2', 'n3'];

let f: Fixture;
let proxy: ApiProxy;
let leader: Operator;
beforeAll(async () => {
  f = await startFixture({ nodes: NODES });
  await f.client.create(NAMESPACES, { metadata: { name: 'traffic-operator-system' } });
  proxy = await startApiProxy(f.controlPlane);
  proxy.fault = ({ path, method }) =>
    method === 'PATCH' && path.startsWith('/api/v1/nodes/') ? { kind: 'delay', ms: HANG_MS } : undefined;
  leader = await f.startOperator(['--leader-elect'], { kubeconfig: proxy.kubeconfig });
  await until('it leads', () => leader.log().includes('started leading'));
  await f.startOperator(['--leader-elect'], { kubeconfig: await f.controlPlane.user('next', ['system:masters']) });
  await f.createWatch('web', { maxBandwidthPercent: '10' });
});
afterAll(async () => {
  await leader.kill();
  await f.stop();
  await proxy.stop();
});

it('gives its lease up in time', async () => {
  const hangs = (): boolean => proxy.requests.some(({ path }) => path.startsWith('/api/v1/nodes/'));
  await until('patches of nodes hang', hangs);
  // The next one stands by with decisions of its own.
  const passes = async () => (await metricsOf(f.operator())).sum('passes_total', { result: 'ok' });
  const before = await passes();
  await until('the next leader has decided', async () => (await passes()) >= before + 2);
  const told = Date.now();
  process.kill(leader.pid, 'SIGTERM');
  const first = () => writesOf(f.controlPlane, 'next').find(({ resource }) => resource === 'nodes')?.at;
  await until('the next leader labels nodes', () => first() !== undefined);
  measured(`a leader told to end whose calls hang is followed after ${seconds(first()! - told)}`);
  expect(first()! - told).toBeLessThan(TERMINATED_MS);
  // What hung was called off: only the next leader's patches arrive.
  expect(writesOf(f.controlPlane, 'admin').filter(({ at, resource }) => resource === 'nodes' && at > told)).toEqual([]);
});
