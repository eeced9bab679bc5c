import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS, type RampStatus } from '../../../src/api/trafficweight/trafficWeight.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { follow } from '../../harness/follow.ts';
import { Ingresses, PERSON } from './ingresses.ts';
import { conditionOf, startScene, WAIT, weightNamed, type WeightScene } from './scene.ts';

/** Changes that proceed in steps, with a gate that a real Prometheus answers: n1 must not be busy. */
const USER = 'ramping-operator';
const SENT = 'node_network_transmit_bytes_total';
const BUSY = `100 * sum(rate(${SENT}[5s])) / sum(node_network_speed_bytes)`;
/** Steps are 2 s apart: twice the TTL. */
const SPEC = {
  ...{ clusterName: 'cluster-a', recordTTL: 1, acknowledge: 'Applied' as const },
  ramp: { step: 20, gate: { query: BUSY, condition: '< 50' } },
  backend: { static: { weight: 0 } },
};
/** A step is not over before the test has seen it. */
const SLOWLY = { interval: '10s' };
let scene: WeightScene;
let f: Fixture;
let ingresses: Ingresses;
/** Weights of the record in the order in which they were written, of which polls may miss one. */
let seen: number[] = [];
let stopFollowing: () => Promise<void>;

beforeAll(async () => {
  scene = await startScene(USER);
  f = scene.f;
  ingresses = new Ingresses(f.client);
  f.exporter.setPercent('n1', 10);
  // A gate without data is asked again after 20 s.
  await vi.waitFor(async () => expect(await asked(BUSY)).toBe(1), WAIT);
  await scene.startOperator();
  await ingresses.deploy('web');
  await f.client.create(TRAFFIC_WEIGHTS, { metadata: { name: 'main' }, spec: SPEC });
  await vi.waitFor(async () => expect(await weightOfWeb()).toBe(0), WAIT);
  stopFollowing = await follow(f.controlPlane, DNS_ENDPOINTS, ({ object: { spec } }) => {
    const weight = Number(spec?.endpoints?.[0]?.providerSpecific?.[0]?.value);
    if (seen.at(-1) !== weight) seen.push(weight);
  });
});
afterAll(async () => {
  await stopFollowing();
  await f.stop();
});

const weightOfWeb = async (): Promise<number> => Number((await ingresses.weights('web'))?.['web.example.org']);
const ramp = async (): Promise<RampStatus | undefined> => (await weightNamed(f)).status?.ramp;
const desire = (weight: number, over: object = {}): Promise<unknown> =>
  f.client.mergePatch(
    TRAFFIC_WEIGHTS,
    { name: 'main' },
    { spec: { backend: { static: { weight } }, ...over } },
    PERSON,
  );
const gate = (over: object): object => ({ ramp: { gate: over } });

/** Also the last one, which the status may tell before the watch does. @param from the weight before them */
const hasSeen = (weights: readonly number[], from: number): Promise<void> =>
  vi.waitFor(() => expect(seen.filter((weight) => weight !== from)).toEqual(weights), WAIT);

const untilReached = (weight: number): Promise<void> =>
  vi.waitFor(async () => {
    expect((await weightNamed(f)).status).toMatchObject({ desiredWeight: weight, currentWeight: weight });
    expect(await conditionOf(f, 'Ready')).toMatchObject({ status: 'True', reason: 'InForce' });
  }, WAIT);

it('goes to another weight in steps, while its gate passes, also over a restart', async () => {
  seen = [];
  await desire(70);
  await vi.waitFor(() => expect(seen).toContain(20), WAIT);
  await f.stopOperator();
  await scene.startOperator();
  await untilReached(70);
  await hasSeen([20, 40, 60, 70], 0);
  expect([await ramp(), (await conditionOf(f, 'Ramped'))?.status]).toEqual([undefined, 'True']);
  await vi.waitFor(async () => {
    const steps = (await f.events('main')).filter(({ reason }) => reason === 'RampStep').map(({ note }) => note);
    expect(steps).toContain('Weight 20 -> 40 (on the way to 70)');
  }, WAIT);
});

it('waits while the gate has no data, and says so', async () => {
  await desire(100, gate({ query: 'no_such_metric' }));
  await vi.waitFor(async () => {
    expect(await ramp()).toMatchObject({ weight: 70, phase: 'Progressing', gate: { result: 'NoData' } });
    expect(await conditionOf(f, 'Ready')).toMatchObject({ status: 'False', reason: 'GateWithoutData' });
  }, WAIT);
  await vi.waitFor(async () => {
    const [event] = (await f.events('main')).filter(({ reason }) => reason === 'GateWithoutData');
    expect(event?.note).toMatch(/the gate has no data, so it waits: the query gives no series$/);
  }, WAIT);
  expect(await weightOfWeb()).toBe(70);
});

it('goes on when the gate has data again', async () => {
  await desire(100, gate({ query: BUSY }));
  await untilReached(100);
});

it('goes back when the gate fails, stays back, and tries again for another weight', async () => {
  // So far, and so slowly, that the gate fails on the way, however late its rate has risen.
  await desire(0, { ramp: SLOWLY });
  await vi.waitFor(async () => expect(await weightOfWeb()).toBe(80), WAIT);
  f.exporter.setPercent('n1', 90);
  await vi.waitFor(async () => expect(await ramp()).toMatchObject({ weight: 100, phase: 'RolledBack' }), WAIT);
  expect(await conditionOf(f, 'Ready')).toMatchObject({ status: 'False', reason: 'RolledBack' });
  expect(await weightOfWeb()).toBe(100);
  f.exporter.setPercent('n1', 10);
  const idle = `${BUSY} < 50`;
  await vi.waitFor(async () => expect(await asked(idle)).toBe(1), WAIT);
  const { resourceVersion } = (await ingresses.endpoint('web'))?.metadata ?? {};
  // A reconcile, which must not begin again.
  await desire(0, { ramp: { step: 21, interval: null } });
  await vi.waitFor(async () => {
    const { metadata, status } = await weightNamed(f);
    expect(status?.observedGeneration).toBe(metadata?.generation);
  }, WAIT);
  expect((await ingresses.endpoint('web'))?.metadata?.resourceVersion).toBe(resourceVersion);
  seen = [];
  await desire(58);
  await untilReached(58);
  await hasSeen([79, 58], 100);
});

it('leaves the way at once when the ramp is removed', async () => {
  await desire(0, { ramp: SLOWLY });
  await vi.waitFor(async () => expect(await ramp()).toBeDefined(), WAIT);
  seen = [];
  await desire(0, { ramp: null });
  await untilReached(0);
  await vi.waitFor(() => expect(seen.at(-1)).toBe(0), WAIT);
  expect(await conditionOf(f, 'Ramped')).toBeUndefined();
});

/** How many series a query gives. */
async function asked(query: string): Promise<number> {
  const response = await fetch(`${f.prometheusUrl}/api/v1/query?query=${encodeURIComponent(query)}`);
  const { data } = (await response.json()) as { data: { result: unknown[] } };
  return data.result.length;
}
