import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { installCrd, removeCrd } from '../harness/customResource.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';

/** The operator without its CRD, as after `kubectl apply -k deploy` alone, on a real API server. */
const WAIT = { timeout: 90_000, interval: 200 };
const keyOf = (watch: string): string => `${watch}.traffic.example.com/unfit`;
const MISSING =
  'the CRD is not installed, and the operator waits for it: helm upgrade with crds.enabled=true, or kubectl';

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'], crd: 'none' });
});
afterAll(() => f.stop());

/** Status and body. */
async function readiness(): Promise<[number, string]> {
  const answer = await fetch(`${f.operator().healthUrl}/readyz?verbose`);
  return [answer.status, await answer.text()];
}

const times = (text: string): number => f.operator().log().split(text).length - 1;

it('reports it and is not ready, and works as soon as the CRD exists', async () => {
  await f.startOperator([], { until: 'alive' });
  await vi.waitFor(() => expect(times(MISSING)).toBe(1), WAIT);
  await vi.waitFor(async () => {
    const [status, body] = await readiness();
    expect(status).not.toBe(200);
    expect(body).toContain('the API server does not serve trafficwatches.traffic.example.com');
  }, WAIT);

  await installCrd(f.client);
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => expect(await f.labels(keyOf('web'))).toEqual({ n1: 'false' }), WAIT);
  // The nodes may be labelled before the caches of other kinds are synced.
  await vi.waitFor(async () => expect((await readiness())[0]).toBe(200), WAIT);
  expect(times('the CRD is installed')).toBe(1);
});

it('reports a CRD that is deleted while it runs: labels are removed, and return with a new CRD', async () => {
  await removeCrd(f.client);
  await vi.waitFor(async () => {
    expect(await f.labels(keyOf('web'))).toEqual({});
    await expect(f.client.list(TRAFFIC_WATCHES)).rejects.toMatchObject({ status: 404 });
    expect(times(MISSING)).toBe(2);
  }, WAIT);

  await installCrd(f.client);
  // With another name: the Deployment of the first one stays, because no garbage collector runs here.
  await f.createWatch('other', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => expect(await f.labels(keyOf('other'))).toEqual({ n1: 'false' }), WAIT);
});
