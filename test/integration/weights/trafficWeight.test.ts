import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { uidOf } from '../../../dashboards/dashboard.ts';
import { panelQueries } from '../../../dashboards/queries.ts';
import { TRAFFIC_WEIGHTS, type TrafficWeightSpec } from '../../../src/api/trafficweight/trafficWeight.ts';
import { INGRESSES, NAMESPACES } from '../../../src/runtime/client/resources.ts';
import { findCondition } from '../../../src/runtime/controller/conditions.ts';
import { OWNER_LABEL } from '../../../src/weights/plan/plan.ts';
import { DNS_ENDPOINTS, KEPT_ANNOTATION } from '../../../src/weights/records/endpoint.ts';
import { AUDIT_OF_USERS, rightsTaken, untilQuiet, writesOf } from '../../harness/audit.ts';
import { installCrd, trafficWeightCrd } from '../../harness/customResource.ts';
import { dnsEndpointCrd, syncRecords } from '../../harness/externalDns.ts';
import { startFixture, type Fixture } from '../../harness/fixture.ts';
import { sleep } from '../../harness/measured.ts';
import { numbersOf, startObserver, type Observer } from '../observer.ts';
import { userWith } from '../rights.ts';
import { ANNOTATION, Ingresses, PERSON } from './ingresses.ts';
import { allRights, UNSEEN, unusedRights } from './rights.ts';
import { installGatewayApi } from './routes.ts';
import { conditionOf, WAIT, weightNamed } from './scene.ts';
import { startZone, type Zone } from './zone.ts';

/** A cluster with the operator, the real external-dns, and a server that answers as Route 53. */
const DOMAIN = 'example.org';
const USER = 'weights-operator';
/** As on OpenShift: whoever sets an owner that its object blocks needs a right on that owner. A DNSEndpoint blocks none. */
const OWNER_CHECK = '--enable-admission-plugins=OwnerReferencesPermissionEnforcement';
const VARIABLES = {
  ...{ job: 'traffic-operator', namespace: '', trafficwatch: '', stack: '', node: '' },
  ...{ __rate_interval: '15s', __interval: '5s', __range: '10m' },
};

let f: Fixture;
let zone: Zone;
let observer: Observer;
let ingresses: Ingresses;
let kubeconfig: string;

beforeAll(async () => {
  const plane = { apiServerFlags: [OWNER_CHECK] };
  const fixture = startFixture({ nodes: ['n1'], auditPolicy: AUDIT_OF_USERS, plane });
  [f, zone] = await Promise.all([fixture, startZone(DOMAIN)]);
  ingresses = new Ingresses(f.client);
  await installCrd(f.client, trafficWeightCrd(), TRAFFIC_WEIGHTS);
  await installGatewayApi(f.client);
  kubeconfig = await userWith(f, USER, allRights());
  await f.startOperator([], { kubeconfig, command: 'trafficweights' });
  observer = await startObserver(new URL(f.operator().metricsUrl).host, f.exporter.target);
});
afterAll(async () => {
  await observer.stop();
  await f.stop();
  await zone.stop();
});

const weightOf = (name?: string) => weightNamed(f, name);
const condition = (type: string) => conditionOf(f, type);
const reasons = async (name: string) => (await f.events(name)).map(({ reason }) => reason);
const create = (name: string, spec: TrafficWeightSpec) =>
  f.client.create(TRAFFIC_WEIGHTS, { metadata: { name }, spec });
const change = (spec: object): Promise<unknown> =>
  f.client.mergePatch(TRAFFIC_WEIGHTS, { name: 'main' }, { spec }, PERSON);
const setWeight = (weight: number): Promise<unknown> => change({ backend: { static: { weight } } });
const explained = (name: string, weight: number, reason: string, factors: string) => {
  const calculation = `cluster 75 x ${factors} = ${weight}`;
  return { host: `${name}.example.org`, ingress: `default/${name}`, weight, reason, calculation };
};
const sync = (): Promise<void> =>
  syncRecords({ kubeconfig: f.controlPlane.kubeconfig, owner: 'cluster-a', domain: DOMAIN, aws: zone.aws });

describe('a TrafficWeight', () => {
  it('says what is missing, and writes nothing, without the CRD of external-dns', async () => {
    await create('main', {
      clusterName: 'cluster-a',
      bindingDomain: DOMAIN,
      recordTTL: 60,
      backend: { static: { weight: 75 } },
    });
    await vi.waitFor(async () => {
      const message = 'the API server does not serve dnsendpoints.externaldns.k8s.io';
      expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'NotRead', message });
    }, WAIT);
  });

  it('gives the records of the Ingresses their weights', async () => {
    await ingresses.deploy('plain');
    await ingresses.deploy('share', { annotations: { [ANNOTATION]: '25' } });
    await ingresses.deploy('other', { host: 'other.example.com' });
    await ingresses.create('down');
    // After them: a weight without records is in force at once.
    await installCrd(f.client, await dnsEndpointCrd(), DNS_ENDPOINTS);
    await vi.waitFor(async () => {
      expect(await ingresses.weights('plain')).toEqual({ 'plain.example.org': '75' });
      expect(await ingresses.weights('share')).toEqual({ 'share.example.org': '19' });
      expect(await ingresses.weights('down')).toEqual({ 'down.example.org': '0' });
    }, WAIT);
    expect(await ingresses.weights('other')).toBeUndefined();
    const made = await ingresses.endpoint('share');
    const ingress = await f.client.get(INGRESSES, { name: 'share', namespace: 'default' });
    expect(made?.metadata).toMatchObject({
      labels: { [OWNER_LABEL]: 'main' },
      annotations: { [KEPT_ANNOTATION]: '25%' },
      ownerReferences: [{ kind: 'Ingress', name: 'share', uid: ingress.metadata?.uid, controller: true }],
    });
    // A field that was created with POST would stay when it is no longer applied.
    const fields = made?.metadata?.managedFields?.filter(({ subresource }) => subresource === undefined);
    expect(fields).toMatchObject([{ operation: 'Apply' }]);
    expect(made?.spec?.endpoints).toMatchObject([
      { setIdentifier: 'cluster-a', recordTTL: 60, targets: ['lb.example.net'] },
    ]);
  });

  it('is in force only after external-dns has read the records', async () => {
    // The status is written after the records, and an earlier one is of fewer of them.
    const message = 'external-dns has not read 3 of 3 DNSEndpoints as they are, the first default/down.';
    await vi.waitFor(async () => expect(await condition('Observed')).toMatchObject({ message }), WAIT);
    expect(await condition('Applied')).toMatchObject({ status: 'True' });
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'NotObservedYet' });
    expect((await weightOf()).status?.currentWeight).toBeUndefined();
    await sync();
    await vi.waitFor(async () => {
      const { status } = await weightOf();
      expect(status).toMatchObject({ desiredWeight: 75, currentWeight: 75, ingresses: 3, hosts: 3, dnsEndpoints: 3 });
      expect(findCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'True', reason: 'InForce' });
    }, WAIT);
    expect(await zone.weightsOf('cluster-a')).toEqual({
      'plain.example.org.': 75,
      'share.example.org.': 19,
      'down.example.org.': 0,
    });
    expect((await weightOf()).status?.explain).toEqual([
      { ...explained('down', 0, 'NoReadyEndpoints', 'not ready'), message: 'no ready endpoint of Service down' },
      explained('plain', 75, 'ClusterWeight', 'ready'),
      explained('share', 19, 'Annotation', 'annotation 25 % x ready'),
    ]);
  });

  it('writes nothing while nothing changes', async () => {
    // The event is written after the status, and others may wait behind it.
    await vi.waitFor(async () => expect(await reasons('main')).toContain('InForce'), WAIT);
    await untilQuiet(f.controlPlane, USER);
    const since = Date.now();
    await ingresses.annotate('other', '1');
    await sleep(5_000);
    expect(writesOf(f.controlPlane, USER).filter(({ at }) => at >= since)).toEqual([]);
  });

  it('has a changed weight acknowledged once it is in force', async () => {
    await setWeight(40);
    await vi.waitFor(async () => expect(await ingresses.weights('plain')).toEqual({ 'plain.example.org': '40' }), WAIT);
    await vi.waitFor(async () => {
      expect((await weightOf()).status).toMatchObject({ desiredWeight: 40, currentWeight: 75 });
    }, WAIT);
    await sync();
    await vi.waitFor(async () => expect((await weightOf()).status?.currentWeight).toBe(40), WAIT);
    expect(await zone.weightsOf('cluster-a')).toMatchObject({ 'plain.example.org.': 40, 'share.example.org.': 10 });
  });

  it('follows the readiness of the Services', async () => {
    await ingresses.setReady('plain', false);
    await ingresses.setReady('down', true);
    await vi.waitFor(async () => {
      expect([await ingresses.weights('plain'), await ingresses.weights('down')]).toEqual([
        { 'plain.example.org': '0' },
        { 'down.example.org': '40' },
      ]);
    }, WAIT);
    // The reconciles that follow the writes are over, so that only this change can cause one.
    await sleep(2_000);
    await ingresses.setReady('plain', true);
    await vi.waitFor(async () => expect(await ingresses.weights('plain')).toEqual({ 'plain.example.org': '40' }), WAIT);
  });

  it('keeps the last valid weight while the annotation is invalid, and says so on the Ingress', async () => {
    await ingresses.annotate('share', 'NaN');
    await vi.waitFor(async () => {
      expect(await condition('IngressesAccepted')).toMatchObject({ status: 'False', reason: 'InvalidAnnotation' });
      const [event] = (await f.events('share')).filter(({ reason }) => reason === 'InvalidAnnotation');
      expect(event).toMatchObject({ type: 'Warning', regarding: { kind: 'Ingress', name: 'share' } });
      expect(event?.note).toBe(
        `share.example.org: annotation ${ANNOTATION}: "NaN": must be a number from 0 to 100, such as "25"; ` +
          'more counts as 100; the last valid value 25 stays',
      );
    }, WAIT);
    expect(await ingresses.weights('share')).toEqual({ 'share.example.org': '10' });
    await ingresses.annotate('share', '50');
    await vi.waitFor(async () => expect(await ingresses.weights('share')).toEqual({ 'share.example.org': '20' }), WAIT);
  });

  it('does not touch a DNSEndpoint of another owner, and names it', async () => {
    const foreign = { endpoints: [{ dnsName: 'x.example.org', recordType: 'A', targets: ['192.0.2.9'] }] };
    await f.client.create(DNS_ENDPOINTS, { metadata: { name: 'foreign', namespace: 'default' }, spec: foreign });
    await ingresses.deploy('foreign');
    await vi.waitFor(async () => {
      const accepted = await condition('IngressesAccepted');
      expect(accepted).toMatchObject({ status: 'False', reason: 'ForeignDNSEndpoint' });
      expect(accepted?.message).toContain('DNSEndpoint default/foreign is not controlled by this Ingress; not touched');
    }, WAIT);
    expect((await ingresses.endpoint('foreign'))?.spec).toEqual(foreign);
    await ingresses.delete('foreign');
    await vi.waitFor(async () => expect(await condition('IngressesAccepted')).toMatchObject({ status: 'True' }), WAIT);
    expect((await ingresses.endpoint('foreign'))?.spec).toEqual(foreign);
  });

  it('names the Ingress that has a host already', async () => {
    await ingresses.deploy('late', { host: 'plain.example.org' });
    await ingresses.setAddresses('late', [{ hostname: 'other.example.net' }]);
    await vi.waitFor(async () => {
      expect((await condition('IngressesAccepted'))?.message).toBe(
        '1 of 4 Ingresses and HTTPRoutes are not accepted, the first default/late: default/plain has the records of plain.example.org, ' +
          'which lead to lb.example.net instead of other.example.net. Give both the same load balancer, or remove the host from one of the two',
      );
    }, WAIT);
    expect(await ingresses.endpoint('late')).toBeUndefined();
    await ingresses.delete('late');
  });

  it('keeps the records while the load balancer has no address', async () => {
    await ingresses.setAddresses('plain', []);
    await setWeight(50);
    await vi.waitFor(async () => expect(await ingresses.weights('plain')).toEqual({ 'plain.example.org': '50' }), WAIT);
    expect((await ingresses.endpoint('plain'))?.spec?.endpoints).toMatchObject([{ targets: ['lb.example.net'] }]);
  });

  it('removes the records of an Ingress that is no longer selected, and no others', async () => {
    await Promise.all(['share', 'down'].map((name) => ingresses.annotate(name, 'public', 'zone')));
    await change({ annotationFilter: 'zone=public' });
    await vi.waitFor(async () => expect(await ingresses.endpoint('plain')).toBeUndefined(), WAIT);
    await sync();
    expect(Object.keys(await zone.weightsOf('cluster-a')).sort()).toEqual(['down.example.org.', 'share.example.org.']);
    await ingresses.delete('plain');
    await change({ annotationFilter: null });
  });

  it('keeps the records of many hosts that its spec no longer selects until that is confirmed, and drains them', async () => {
    await change({ bindingDomain: 'exmaple.org' });
    const waits = async (): Promise<string> => {
      const { reason, message = '' } = (await condition('Applied')) ?? {};
      expect(reason).toBe('RemovalNotConfirmed');
      return message;
    };
    await vi.waitFor(waits, WAIT);
    await setWeight(0);
    await vi.waitFor(async () => expect(await ingresses.weights('share')).toEqual({ 'share.example.org': '0' }), WAIT);
    const [, confirm] = /allowRemoval: "([0-9a-f]{16})"/.exec(await waits()) ?? [];
    await change({ allowRemoval: confirm });
    for (const name of ['share', 'down'])
      await vi.waitFor(async () => expect(await ingresses.endpoint(name)).toBeUndefined(), WAIT);
    await change({ bindingDomain: DOMAIN, allowRemoval: 'Any', backend: { static: { weight: 50 } } });
    await vi.waitFor(async () => expect(await ingresses.endpoint('share')).toBeDefined(), WAIT);
  });

  it('selects by class, annotation and namespace', async () => {
    await f.client.create(NAMESPACES, { metadata: { name: 'shop', labels: { dns: 'public' } } });
    const selectors = {
      ingressClassNames: ['none'],
      annotationFilter: 'dns=public',
      namespaceSelector: { matchLabels: { dns: 'public' } },
    };
    for (const [field, value] of Object.entries(selectors)) {
      await change({ [field]: value });
      await vi.waitFor(async () => expect(await ingresses.endpoint('share'), field).toBeUndefined(), WAIT);
      await change({ [field]: null });
      await vi.waitFor(async () => expect(await ingresses.endpoint('share'), field).toBeDefined(), WAIT);
    }
  });

  it('has a dashboard whose queries find numbers', async () => {
    // The test before has created the records again.
    await sync();
    const queries = panelQueries(VARIABLES).filter(({ where }) => where.startsWith(`${uidOf('weights')} /`));
    expect(queries.length).toBeGreaterThan(4);
    for (const { where, expr, instant } of queries) {
      const found = async (): Promise<number> => numbersOf(await observer.answerTo(expr, instant)).length;
      await vi.waitFor(async () => expect(await found(), where).toBeGreaterThan(0), WAIT);
    }
  });

  it('is given exactly the rights that it uses', async () => {
    await change({ backend: { static: null, configMap: { name: 'weights' } } });
    await vi.waitFor(async () => expect((await condition('BackendRead'))?.reason).toBe('BackendUnavailable'), WAIT);
    const ofStacks = rightsTaken(f.controlPlane, USER).filter(({ right }) => right.includes(' trafficstacks.'));
    expect(ofStacks, 'with --prometheus-url').toEqual([]);
    // With the Prometheus that the operator deploys, or a TrafficStack uses.
    await f.stopOperator();
    await f.startOperator(['--stacks'], {
      kubeconfig,
      command: 'trafficweights',
      prometheusUrl: undefined,
      until: 'alive',
    });
    await change({ backend: { configMap: null, prometheus: { query: 'vector(1)' } } });
    const serviceIsRead = (): boolean =>
      rightsTaken(f.controlPlane, USER).some(({ right }) => right === 'get services');
    await vi.waitFor(() => expect(serviceIsRead()).toBe(true), WAIT);
    const requests = rightsTaken(f.controlPlane, USER);
    expect(requests.filter(({ isForbidden }) => isForbidden)).toEqual([]);
    expect(unusedRights(requests)).toEqual(UNSEEN);
  });

  it('leaves its records as they are when it is deleted', async () => {
    const before = await ingresses.endpoint('share');
    await f.client.delete(TRAFFIC_WEIGHTS, { name: 'main' });
    await create('second', {
      clusterName: 'cluster-a',
      bindingDomain: 'example.net',
      backend: { static: { weight: 1 } },
    });
    await vi.waitFor(async () => expect((await weightOf('second')).status?.desiredWeight).toBe(1), WAIT);
    expect(await ingresses.endpoint('share')).toEqual(before);
  });
});
