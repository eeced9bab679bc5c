import type { Client } from '../../../src/runtime/client/client.ts';
import { ENDPOINT_SLICES, INGRESSES } from '../../../src/runtime/client/resources.ts';
import { TRAFFIC_WEIGHTS } from '../../../src/api/trafficweight/trafficWeight.ts';
import { inParallel } from '../../harness/inParallel.ts';

export const NAMESPACE = 'default';
const PERSON = { fieldManager: 'person' };
/** Applications have several hosts each in few Ingresses; here each Ingress has one host, and Services are shared. */
const SERVICES = 100;
const NAME = 'main';

/** The name of an Ingress. */
export function ingressName(index: number): string {
  return `app-${index}`;
}

/** Ingresses with a load balancer, to Services that are ready. */
export async function createIngresses(client: Client, count: number): Promise<void> {
  const services = Array.from({ length: SERVICES }, (_, n) => `service-${n}`);
  await inParallel(services, (service) => {
    const metadata = { namespace: NAMESPACE, name: service, labels: { 'kubernetes.io/service-name': service } };
    const endpoints = [{ addresses: ['192.0.2.1'], conditions: { ready: true } }];
    return client.create(ENDPOINT_SLICES, { metadata, addressType: 'IPv4', endpoints });
  });
  const all = Array.from({ length: count }, (_, n) => n);
  await inParallel(all, async (index) => {
    const ref = { namespace: NAMESPACE, name: ingressName(index) };
    const backend = { service: { name: `service-${index % SERVICES}`, port: { number: 80 } } };
    const http = { paths: [{ path: '/', pathType: 'Prefix', backend }] };
    await client.create(INGRESSES, { metadata: ref, spec: { rules: [{ host: `${ref.name}.example.org`, http }] } });
    const status = { loadBalancer: { ingress: [{ hostname: 'lb.example.net' }] } };
    await client.mergePatch(INGRESSES, ref, { status }, { ...PERSON, subresource: 'status' });
  });
}

/** The TrafficWeight of all Ingresses. A DNSEndpoint counts as in force when it is written: external-dns does not run. */
export async function createWeight(client: Client, weight: number): Promise<void> {
  const backend = { static: { weight } };
  const spec = { clusterName: 'cluster-a', acknowledge: 'Applied' as const, backend };
  await client.create(TRAFFIC_WEIGHTS, { metadata: { name: NAME }, spec });
}

export async function setWeight(client: Client, weight: number): Promise<void> {
  await client.mergePatch(TRAFFIC_WEIGHTS, { name: NAME }, { spec: { backend: { static: { weight } } } }, PERSON);
}

/** The weight that is in force; undefined before one is. */
export async function weightInForce(client: Client): Promise<number | undefined> {
  return (await client.get(TRAFFIC_WEIGHTS, { name: NAME })).status?.currentWeight;
}
