import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { isNotFound } from '../../src/runtime/client/errors.ts';
import { DEPLOYMENTS, NAMESPACES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { start, type RunningProcess } from '../harness/process.ts';
import { binary } from '../lab/binaries.ts';
import { measured, seconds, until } from '../harness/measured.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** A namespace with a TrafficWatch, deleted while the operator is down. */
const TEAM = 'team';
const REF = { namespace: TEAM, name: 'web' };
const KEY = unfitKey('web', TEAM);
const OWN = unfitKey('mine', TEAM);
const WAIT = { timeout: 90_000, interval: 200 };

let f: Fixture;
let controllers: RunningProcess;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  f.exporter.setPercent('n2', 60);
  // What empties a namespace and frees it; no other controller is needed here.
  const args = [
    `--kubeconfig=${f.controlPlane.kubeconfig}`,
    '--controllers=namespace-controller',
    '--leader-elect=false',
  ];
  const log = join(f.controlPlane.directory, 'controllers.log');
  controllers = start(await binary('kube-controller-manager'), [...args, '--secure-port=0'], log);
  await f.client.create(NAMESPACES, { metadata: { name: TEAM } });
  await f.setLabels('n1', { [OWN]: 'true' });
  await f.startOperator();
  const deployment = {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
  };
  await f.client.create(TRAFFIC_WATCHES, { metadata: REF, spec: { maxBandwidthPercent: '10', deployment } });
  await vi.waitFor(async () => {
    expect(await f.labels(KEY)).toEqual({ n1: 'false', n2: 'true' });
    await f.client.get(DEPLOYMENTS, REF);
  }, WAIT);
});
afterAll(async () => {
  await controllers.stop();
  await f.stop();
});

it('is freed when the operator runs again; its labels go, a person’s own stay', async () => {
  await f.stopOperator();
  await f.client.delete(NAMESPACES, { name: TEAM });
  // What is in a namespace is deleted kind by kind, in no order.
  await until('the Deployment is deleted', () => isMissing(f.client.get(DEPLOYMENTS, REF)));
  await until('the TrafficWatch is to be deleted', async () => {
    const { metadata } = await f.client.get(TRAFFIC_WATCHES, REF);
    return metadata?.deletionTimestamp !== undefined;
  });
  const waiting = await f.client.get(TRAFFIC_WATCHES, REF);
  expect(waiting.metadata?.finalizers).toHaveLength(1);
  expect((await f.client.get(NAMESPACES, { name: TEAM })).status?.phase).toBe('Terminating');
  expect(await f.labels(KEY)).toEqual({ n1: 'false', n2: 'true' });

  const from = performance.now();
  await f.startOperator();
  const swept = await until('the labels are gone', async () => Object.keys(await f.labels(KEY)).length === 0, {
    since: from,
  });
  const freed = await until('the namespace is gone', () => isMissing(f.client.get(NAMESPACES, { name: TEAM })), {
    since: from,
  });
  measured(
    `namespace deleted while the operator was down: labels gone ${seconds(swept)}, namespace freed ${seconds(freed)} after its start`,
  );
  expect(await f.labels(OWN)).toEqual({ n1: 'true' });
  await expect(f.client.get(TRAFFIC_WATCHES, REF)).rejects.toMatchObject({ status: 404 });
});

/** @throws what it is rejected with but for 404 */
async function isMissing(read: Promise<unknown>): Promise<boolean> {
  try {
    await read;
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}
