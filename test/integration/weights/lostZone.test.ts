import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS } from '../../../src/api/trafficweight/trafficWeight.ts';
import { syncRecords } from '../../harness/externalDns.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { startAwsProxy, type AwsProxy } from './awsProxy.ts';
import { stubCredentials } from './credentials.ts';
import { Ingresses, PERSON } from './ingresses.ts';
import { conditionOf, startScene, WAIT, weightNamed, type WeightScene } from './scene.ts';
import { startZone, type Zone } from './zone.ts';

/** A hosted zone that the operator has read, and can no longer read: its right is gone. The clock of the operator jumps at SIGUSR2. */
const DOMAIN = 'example.org';
/** The last read counts for 30 minutes. */
const JUMP_S = 31 * 60;
const JUMP_CLOCK = new URL(`../../harness/jumpClock.ts?seconds=${JUMP_S}`, import.meta.url).href;
let zone: Zone;
let proxy: AwsProxy;
let scene: WeightScene;
let f: Fixture;
let ingresses: Ingresses;

beforeAll(async () => {
  zone = await startZone(DOMAIN);
  proxy = await startAwsProxy(zone.aws.url);
  scene = await startScene('lost-zone', { args: [`--route53-endpoint-url=${proxy.url}`] });
  f = scene.f;
  ingresses = new Ingresses(f.client);
  stubCredentials(zone.aws);
  vi.stubEnv('NODE_OPTIONS', `--import=${JUMP_CLOCK}`);
  await scene.startOperator();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await f.stop();
  proxy.stop();
  await zone.stop();
});

const weightOfWeb = async (): Promise<string | undefined> => (await ingresses.weights('web'))?.['web.example.org'];
const sync = (): Promise<void> =>
  syncRecords({ kubeconfig: f.controlPlane.kubeconfig, owner: 'cluster-a', domain: DOMAIN, aws: zone.aws });
const published = () => conditionOf(f, 'Published');

/** Waits until the operator has asked Route 53 again, every 20 s, and has reconciled since: an annotation that nothing reads is a change. */
async function untilAskedAgain(nudge: string): Promise<void> {
  const before = proxy.asked.length;
  await vi.waitFor(() => expect(proxy.asked.length).toBeGreaterThan(before), WAIT);
  await ingresses.annotate('web', nudge, 'example.org/nudge');
}

it('a weight is in force when the zone has it', async () => {
  await ingresses.deploy('web');
  const spec = { clusterName: 'cluster-a', bindingDomain: DOMAIN, recordTTL: 1, hostedZoneIDs: [zone.id] };
  await f.client.create(TRAFFIC_WEIGHTS, {
    metadata: { name: 'main' },
    spec: { ...spec, ramp: { step: 20 }, backend: { static: { weight: 50 } } },
  });
  await vi.waitFor(async () => expect(await weightOfWeb()).toBe('50'), WAIT);
  await sync();
  await vi.waitFor(async () => {
    expect(await published()).toMatchObject({ status: 'True' });
    expect((await weightNamed(f)).status?.currentWeight).toBe(50);
  }, WAIT);
});

it('its last read counts for 30 minutes; then nobody knows which weight clients get, and the zone is named', async () => {
  proxy.fail({ name: 'AccessDenied', message: () => 'no' });
  const denied = `Route 53 (hosted zone ${zone.id}) answered AccessDenied`;
  await vi.waitFor(async () => {
    const { status, message } = (await conditionOf(f, 'ZonesRead')) ?? {};
    expect([status, message]).toEqual(['False', expect.stringContaining(denied)]);
  }, WAIT);
  await untilAskedAgain('before');
  expect([await published(), await conditionOf(f, 'Ready')]).toMatchObject([{ status: 'True' }, { status: 'True' }]);
  process.kill(f.operator().pid, 'SIGUSR2');
  await untilAskedAgain('after');
  await vi.waitFor(async () => {
    const { status, reason, message } = (await published()) ?? {};
    expect([status, reason]).toEqual(['Unknown', 'ZoneUnavailable']);
    expect(message).toMatch(new RegExp(`^The hosted zone ${zone.id} was read last at 2[^ ]+Z: `));
    expect(message).toContain(denied);
    expect(await conditionOf(f, 'Ready')).toMatchObject({ status: 'False', reason: 'ZoneUnavailable' });
  }, WAIT);
  await vi.waitFor(async () => {
    const notes = (await f.events('main')).filter(({ reason }) => reason === 'ZoneUnavailable').map(({ note }) => note);
    expect(notes).toContainEqual(expect.stringContaining(`Ready: The hosted zone ${zone.id} was read last at`));
  }, WAIT);
});

it('a ramp takes no step until the zone is read again', async () => {
  const spec = { backend: { static: { weight: 90 } } };
  await f.client.mergePatch(TRAFFIC_WEIGHTS, { name: 'main' }, { spec }, PERSON);
  await vi.waitFor(async () => {
    expect((await weightNamed(f)).status).toMatchObject({ desiredWeight: 90, ramp: { weight: 50, target: 90 } });
  }, WAIT);
  await untilAskedAgain('ramp');
  await untilAskedAgain('ramp again');
  expect([await weightOfWeb(), (await weightNamed(f)).status?.appliedWeight]).toEqual(['50', 50]);
  proxy.fail(undefined);
  await vi.waitFor(async () => expect(await weightOfWeb()).toBe('70'), WAIT);
  expect(await zone.weightsOf('cluster-a')).toEqual({ 'web.example.org.': 50 });
});
