import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS } from '../../../src/api/trafficweight/trafficWeight.ts';
import { INGRESSES } from '../../../src/runtime/client/resources.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { Ingresses, PERSON } from './ingresses.ts';
import { startScene, WAIT, weightNamed } from './scene.ts';

/** An Ingress with more hosts than the status explains, of which one leads to a Service that is not ready. */
const HOSTS = Array.from({ length: 25 }, (_, n) => `h${String(n).padStart(2, '0')}.example.org`);
const SILENT = HOSTS[24]!;
let f: Fixture;
let ingresses: Ingresses;

beforeAll(async () => {
  const scene = await startScene('many-operator');
  f = scene.f;
  ingresses = new Ingresses(f.client);
  await scene.startOperator();
  await ingresses.deploy('web');
  await ingresses.setReady('silent', false);
  const rules = HOSTS.map((host) => {
    const backend = { service: { name: host === SILENT ? 'silent' : 'web', port: { number: 80 } } };
    return { host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } };
  });
  await f.client.mergePatch(INGRESSES, { namespace: 'default', name: 'web' }, { spec: { rules } }, PERSON);
  const spec = { clusterName: 'cluster-a', acknowledge: 'Applied' as const, backend: { static: { weight: 75 } } };
  await f.client.create(TRAFFIC_WEIGHTS, { metadata: { name: 'main' }, spec });
});
afterAll(() => f.stop());

const wanted = (host: string): number => (host === SILENT ? 0 : 75);
const reason = (host: string): string => (host === SILENT ? 'NoReadyEndpoints' : 'ClusterWeight');

/** The weights that a metric tells of the hosts, with the reason if it has one. */
async function told(what: 'desired' | 'current'): Promise<string[]> {
  const metrics = await (await fetch(f.operator().metricsUrl)).text();
  const series = new RegExp(`^traffic_operator_trafficweight_host_weight_${what}{(.*)} ([0-9]+)$`, 'gm');
  return [...metrics.matchAll(series)].map(([, labels = '', value]) => {
    const label = (name: string): string => new RegExp(`${name}="(.+?)"`).exec(labels)?.[1] ?? '';
    return [label('ingress'), label('host'), label('reason'), value].filter(Boolean).join(' ');
  });
}

it('has the weight and the reason of each host in its metrics, and the silent Service takes only its own host', async () => {
  await vi.waitFor(async () => {
    expect((await told('desired')).sort()).toEqual(HOSTS.map((host) => `web ${host} ${reason(host)} ${wanted(host)}`));
  }, WAIT);
  expect(await ingresses.weights('web')).toEqual(Object.fromEntries(HOSTS.map((host) => [host, String(wanted(host))])));
});

it('has the weight that external-dns has read of each host in its metrics, once it has read it', async () => {
  expect(await told('current')).toEqual([]);
  const { metadata } = (await ingresses.endpoint('web')) ?? {};
  await f.client.mergePatch(
    DNS_ENDPOINTS,
    { namespace: 'default', name: 'web' },
    { status: { observedGeneration: metadata?.generation } },
    { fieldManager: 'external-dns', subresource: 'status' },
  );
  await vi.waitFor(async () => {
    expect((await told('current')).sort()).toEqual(HOSTS.map((host) => `web ${host} ${wanted(host)}`));
  }, WAIT);
});

it('explains twenty in its status, the one with a problem first', async () => {
  const { status } = await weightNamed(f);
  expect(status?.hosts).toBe(25);
  expect(status?.explain?.map(({ host }) => host)).toEqual([SILENT, ...HOSTS.slice(0, 19)]);
});
