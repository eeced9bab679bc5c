import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS, type TrafficWeightSpec } from '../../../src/api/trafficweight/trafficWeight.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../../src/runtime/client/resources.ts';
import { OWNER_LABEL } from '../../../src/weights/plan/plan.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { writesOf } from '../../harness/audit.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { CLUSTER_ROLES } from '../rights.ts';
import { Ingresses, PERSON } from './ingresses.ts';
import { allRights } from './rights.ts';
import { conditionOf, startScene, WAIT, weightNamed } from './scene.ts';

/**
 * Where a weight comes from besides a table: a ConfigMap that a pipeline writes, and a measurement of a real Prometheus; then two
 * TrafficWeights of one cluster, and rights that are missing.
 */
const USER = 'sources-operator';
const NAMESPACE = 'traffic-operator-system';
const REF = { namespace: NAMESPACE, name: 'weights' };
let f: Fixture;
let ingresses: Ingresses;

beforeAll(async () => {
  const scene = await startScene(USER, { args: [`--namespace=${NAMESPACE}`] });
  f = scene.f;
  ingresses = new Ingresses(f.client);
  f.exporter.setPercent('n1', 20);
  await f.client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  await f.client.create(CONFIG_MAPS, { metadata: REF, data: { 'cluster-a': '75\n' } });
  await scene.startOperator();
  await ingresses.deploy('web');
  await create('main', { configMap: { name: 'weights', key: 'cluster-a' } });
});
afterAll(() => f.stop());

function create(name: string, backend: TrafficWeightSpec['backend'], over: Partial<TrafficWeightSpec> = {}) {
  const spec = { clusterName: 'cluster-a', acknowledge: 'Applied' as const, backend, ...over };
  return f.client.create(TRAFFIC_WEIGHTS, { metadata: { name }, spec });
}

const change = (name: string, spec: object): Promise<unknown> =>
  f.client.mergePatch(TRAFFIC_WEIGHTS, { name }, { spec }, PERSON);
const has = (weight: string): Promise<void> =>
  vi.waitFor(async () => expect(await ingresses.weights('web')).toEqual({ 'web.example.org': weight }), WAIT);
const recordWrites = (): number =>
  writesOf(f.controlPlane, USER).filter(({ resource }) => resource === DNS_ENDPOINTS.plural).length;
const says = (expected: object): Promise<void> =>
  vi.waitFor(async () => expect(await conditionOf(f, 'BackendRead')).toMatchObject(expected), WAIT);
const stays = (reason: string, message: string): Promise<void> =>
  says({ status: 'False', reason, message: `${message}; the last weight stays` });

describe('a ConfigMap', () => {
  it('has the weight under its key', async () => {
    await has('75');
    await vi.waitFor(async () => expect(await conditionOf(f, 'Ready')).toMatchObject({ status: 'True' }), WAIT);
    expect(await conditionOf(f, 'Acknowledged')).toBeUndefined();
  });

  // configMap.test.ts has the values that are none.
  it('leaves the last weight while it is gone', async () => {
    await f.client.delete(CONFIG_MAPS, REF);
    await stays('BackendUnavailable', 'there is no ConfigMap weights');
    expect((await weightNamed(f)).status).toMatchObject({ desiredWeight: 75, currentWeight: 75 });
    await has('75');
    await f.client.create(CONFIG_MAPS, { metadata: REF, data: { 'cluster-a': '0' } });
    await has('0');
  });
});

describe('a measurement', () => {
  const SENT = 'node_network_transmit_bytes_total';
  const FREE = `1 - sum(rate(${SENT}[10s]) and ${SENT} offset 10s) / sum(node_network_speed_bytes and ${SENT} offset 10s)`;
  /** It is off by some points on a busy machine. */
  const MIN_CHANGE = 12;
  const desired = async (): Promise<number | undefined> => (await weightNamed(f)).status?.desiredWeight;
  const measure = (query: string): Promise<unknown> =>
    change('main', { backend: { configMap: null, prometheus: { query, minChange: MIN_CHANGE } } });

  async function follows(free: number): Promise<void> {
    await vi.waitFor(async () => {
      const weight = Number((await ingresses.weights('web'))?.['web.example.org']);
      expect(Math.abs(weight - free)).toBeLessThan(MIN_CHANGE);
      expect(await desired()).toBe(weight);
    }, WAIT);
  }

  it('is followed', async () => {
    await measure(FREE);
    await follows(80);
    await says({ status: 'True', reason: 'WeightRead' });
    expect(await conditionOf(f, 'Acknowledged')).toBeUndefined();
    f.exporter.setPercent('n1', 70);
    await follows(30);
  });

  it('leaves the last weight while the query gives nothing, and while Prometheus is away; then it is followed again', async () => {
    const before = [await desired(), recordWrites()];
    await measure('no_such_metric');
    await stays('InvalidWeight', 'the query no_such_metric gives no series: must give one series with a number');
    await f.stopPrometheus();
    await measure(FREE);
    await says({ status: 'False', reason: 'BackendUnavailable' });
    expect([await desired(), recordWrites()]).toEqual(before);
    f.exporter.setPercent('n1', 50);
    await f.startPrometheus();
    await follows(50);
  });
});

describe('two TrafficWeights of one cluster', () => {
  const filter = (name: string, annotationFilter: string | null): Promise<unknown> =>
    change(name, { annotationFilter });

  /** Whose the DNSEndpoint of an Ingress is, and its weight. */
  async function owned(name: string) {
    const endpoint = await ingresses.endpoint(name);
    const [weight] = Object.values((await ingresses.weights(name)) ?? {});
    return endpoint && { owner: endpoint.metadata?.labels?.[OWNER_LABEL], weight, uid: endpoint.metadata?.uid };
  }

  const refusedBy = (name: string, message: string): Promise<void> =>
    vi.waitFor(async () => {
      expect((await conditionOf(f, 'IngressesAccepted', name))?.message).toBe(
        `1 of 1 Ingresses and HTTPRoutes are not accepted, the first ${message}`,
      );
    }, WAIT);

  it('an Ingress that both select stays with the first, and the second names it', async () => {
    await change('main', { backend: { prometheus: null, static: { weight: 75 } } });
    await has('75');
    const before = await owned('web');
    expect(before).toMatchObject({ owner: 'main' });
    await create('second', { static: { weight: 10 } });
    await refusedBy('second', 'default/web: DNSEndpoint default/web belongs to main; not touched');
    expect(await owned('web')).toEqual(before);
  });

  it('an Ingress that goes from one to the other keeps its DNSEndpoint', async () => {
    const { uid } = (await owned('web')) ?? {};
    await filter('main', 'dns=none');
    await vi.waitFor(async () => expect(await owned('web')).toEqual({ owner: 'second', weight: '10', uid }), WAIT);
    await filter('main', null);
    await filter('second', 'dns=none');
    await vi.waitFor(async () => expect(await owned('web')).toEqual({ owner: 'main', weight: '75', uid }), WAIT);
  });

  it('a host that an Ingress of one has is not given to an Ingress of the other', async () => {
    await ingresses.annotate('web', 'main', 'dns');
    await filter('main', 'dns=main');
    await filter('second', 'dns=second');
    await ingresses.deploy('late', { host: 'web.example.org', annotations: { dns: 'second' } });
    const advice =
      'which this TrafficWeight does not decide. Select both with one TrafficWeight, or remove the host from one of the two';
    await refusedBy('second', `default/late: default/web has the records of web.example.org, ${advice}`);
    expect(await ingresses.endpoint('late')).toBeUndefined();
    await ingresses.delete('late');
  });

  it('an Ingress of one that is deleted goes to the other with its DNSEndpoint', async () => {
    const { uid } = (await owned('web')) ?? {};
    await filter('second', null);
    await f.client.delete(TRAFFIC_WEIGHTS, { name: 'main' });
    await vi.waitFor(async () => expect(await owned('web')).toEqual({ owner: 'second', weight: '10', uid }), WAIT);
  });
});

describe('an operator that may write no DNSEndpoint', () => {
  it('says which write was refused, and tries again ever more rarely', async () => {
    const rules = allRights().map(({ apiGroups, resources, resourceNames, verbs }) => ({
      ...{ apiGroups, resources, resourceNames },
      verbs: resources?.includes(DNS_ENDPOINTS.plural) === true ? ['list', 'watch'] : verbs,
    }));
    const events = { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] };
    await f.client.mergePatch(CLUSTER_ROLES, { name: USER }, { rules: [...rules, events] }, PERSON);
    const [before, begin] = [recordWrites(), performance.now()];
    await ingresses.deploy('app');
    await vi.waitFor(async () => {
      const applied = await conditionOf(f, 'Applied', 'second');
      expect(applied).toMatchObject({ status: 'False', reason: 'WriteFailed' });
      expect(applied?.message).toMatch(/^Failed writes: 1, the first: DNSEndpoint default\/app: .*cannot patch/);
    }, WAIT);
    const attempts = (): number => recordWrites() - before;
    // The backoff begins with 5 ms and doubles: 11 attempts in 10 s. Events of the objects above cause a few more.
    await vi.waitFor(() => expect(performance.now() - begin).toBeGreaterThan(10_000), WAIT);
    await vi.waitFor(() => expect(attempts()).toBeGreaterThan(3), WAIT);
    expect(attempts()).toBeLessThan(25);
  });
});
