import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS } from '../../../src/api/trafficweight/trafficWeight.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { writesOf } from '../../harness/audit.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { sleep } from '../../harness/measured.ts';
import { ANNOTATION, Ingresses } from './ingresses.ts';
import { allRights } from './rights.ts';
import { conditionOf, startScene, WAIT } from './scene.ts';

/** An operator that may read everything and write no DNSEndpoint. */
const USER = 'refused-operator';
let f: Fixture;

beforeAll(async () => {
  const rights = allRights().map((rule) =>
    rule.resources?.includes(DNS_ENDPOINTS.plural) === true ? { ...rule, verbs: ['list', 'watch'] } : rule,
  );
  const scene = await startScene(USER, { rights });
  f = scene.f;
  await scene.startOperator();
});
afterAll(() => f.stop());

const condition = (type: string) => conditionOf(f, type);

it('says which write was refused, and tries again ever more rarely', async () => {
  await new Ingresses(f.client).deploy('web', { annotations: { [ANNOTATION]: '9'.repeat(200_000) } });
  await new Ingresses(f.client).deploy('app');
  const spec = { clusterName: 'cluster-a', backend: { static: { weight: 75 } } };
  await f.client.create(TRAFFIC_WEIGHTS, { metadata: { name: 'main' }, spec });
  await vi.waitFor(async () => {
    expect(await condition('Applied')).toMatchObject({ status: 'False', reason: 'WriteFailed' });
    expect((await condition('Applied'))?.message).toMatch(
      /^Failed writes: 1, the first: DNSEndpoint default\/app: .*cannot patch/,
    );
    expect(await condition('IngressesAccepted')).toMatchObject({ status: 'False', reason: 'InvalidAnnotation' });
  }, WAIT);
  await sleep(10_000);
  const attempts = (): number =>
    writesOf(f.controlPlane, USER).filter(({ resource }) => resource === DNS_ENDPOINTS.plural).length;
  // The backoff begins with 5 ms and doubles: 12 attempts in 20 s. Events of the objects above cause a few more.
  await vi.waitFor(() => expect(attempts()).toBeGreaterThan(3), WAIT);
  expect(attempts()).toBeLessThan(25);
});
