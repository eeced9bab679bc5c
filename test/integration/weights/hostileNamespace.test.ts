import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS } from '../../../src/api/trafficweight/trafficWeight.ts';
import { INGRESSES, NAMESPACES } from '../../../src/runtime/client/resources.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { measured } from '../../harness/measured.ts';
import { peakResidentBytes } from '../../harness/processUse.ts';
import { Ingresses } from './ingresses.ts';
import { conditionOf, startScene, WAIT, type WeightScene } from './scene.ts';

/**
 * One namespace's user makes Ingresses and DNSEndpoints of 150 MB, which every change of a weight would go through. Ingresses of another
 * namespace get their weight all the same, and the operator stays within the memory of the chart.
 */
const TENANT = 'tenant';
const COUNT = 200;
/** Rules of an Ingress, and records of a DNSEndpoint: 0.4 MB each. */
const HOSTS = 2_000;
/** The memory limit of the chart. V8 takes half of the memory that a container may have for its heap, and ends the process beyond. */
const MEMORY_LIMIT_MIB = 384;
const HEAP = `--max-old-space-size=${MEMORY_LIMIT_MIB / 2}`;
const AT_ONCE = 4;

let scene: WeightScene;
let ingresses: Ingresses;
beforeAll(async () => {
  vi.stubEnv('NODE_OPTIONS', HEAP);
  scene = await startScene('weights-under-attack');
  ingresses = new Ingresses(scene.f.client);
  await scene.f.client.create(NAMESPACES, { metadata: { name: TENANT } });
  const spec = { clusterName: 'cluster-a', bindingDomain: 'example.org', backend: { static: { weight: 75 } } };
  await scene.f.client.create(TRAFFIC_WEIGHTS, { metadata: { name: 'main' }, spec });
  await scene.startOperator();
}, 120_000);
afterAll(async () => {
  vi.unstubAllEnvs();
  await scene.f.stop();
});

const hostsOf = (n: number): string[] =>
  Array.from({ length: HOSTS }, (_, host) => `a-long-name-of-a-host-${host}.${n}.${TENANT}.example.org`);

function hostileIngress(n: number): object {
  const service = { name: 'a-service-that-does-not-exist', port: { number: 80 } };
  const http = { paths: [{ path: '/', pathType: 'Prefix', backend: { service } }] };
  const metadata = { namespace: TENANT, name: `hostile-${n}` };
  return { metadata, spec: { rules: hostsOf(n).map((host) => ({ host, http })) } };
}

/** As if an Ingress controlled it. */
function hostileEndpoint(n: number): object {
  const owner = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'none', uid: `u-${n}`, controller: true };
  const metadata = { namespace: TENANT, name: `filler-${n}`, ownerReferences: [owner] };
  const endpoints = hostsOf(n).map((dnsName) => {
    const providerSpecific = [{ name: 'aws/weight', value: '0' }];
    return { dnsName, recordType: 'CNAME', recordTTL: 60, targets: ['lb.example.net'], providerSpecific };
  });
  return { metadata, spec: { endpoints } };
}

async function createAll(create: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < COUNT) await create(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function untilWeighted(name: string): Promise<string> {
  const since = performance.now();
  await ingresses.deploy(name);
  await vi.waitFor(async () => expect(await ingresses.weights(name)).toEqual({ [`${name}.example.org`]: '75' }), WAIT);
  return `${((performance.now() - since) / 1_000).toFixed(1)} s`;
}

const usedMib = (): number => peakResidentBytes(scene.f.operator().pid) / 1024 ** 2;

it('large Ingresses and DNSEndpoints of one namespace take neither the memory nor the turn of others, also after a restart', async () => {
  await createAll((n) => scene.f.client.create(INGRESSES, hostileIngress(n)));
  await createAll((n) => scene.f.client.create(DNS_ENDPOINTS, hostileEndpoint(n)));
  const took = await untilWeighted('after');
  const mib = usedMib();
  await scene.f.stopOperator();
  await scene.startOperator();
  const tookAgain = await untilWeighted('restarted');
  measured(`weighted after ${took}, ${mib.toFixed(0)} MiB; after a restart ${tookAgain}, ${usedMib().toFixed(0)} MiB`);
  expect(Math.max(mib, usedMib())).toBeLessThan(MEMORY_LIMIT_MIB);
});

it('the TrafficWeight names the namespace that has too much', async () => {
  await vi.waitFor(async () => {
    const accepted = await conditionOf(scene.f, 'IngressesAccepted');
    expect(accepted).toMatchObject({ status: 'False', reason: 'NamespaceTooLarge' });
    expect(accepted?.message).toContain(`of the namespaces ${TENANT}, since`);
  }, WAIT);
});
