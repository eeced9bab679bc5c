import type { ResourceRecordSet } from '@aws-sdk/client-route-53';
import type { V1Ingress } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiVersionOf } from '../../../src/runtime/client/resource.ts';
import type { Client } from '../../../src/runtime/client/client.ts';
import { INGRESSES } from '../../../src/runtime/client/resources.ts';
import { dnsEndpointOf } from '../../../src/weights/records/dnsEndpoint.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { NO_ZONES } from '../../../src/weights/zone/published.ts';
import { recordsOf } from '../../../src/weights/records/records.ts';
import { sourceOfIngress } from '../../../src/weights/records/source.ts';
import { README_ROWS } from '../../../src/weights/records/testing/readmeRows.ts';
import { startControlPlane, type ControlPlane } from '../../harness/controlPlane.ts';
import { installCrd } from '../../harness/customResource.ts';
import { dnsEndpointCrd, syncRecords } from '../../harness/externalDns.ts';
import { connect, type Connected } from '../../harness/runtimeScene.ts';
import { startZone, type Zone } from './zone.ts';

const DOMAIN = 'example.org';
const ANNOTATION_PREFIX = 'dns.adevinta.com';
const FIELD_MANAGER = 'weights-test';

interface Cluster extends Connected {
  readonly name: string;
  readonly plane: ControlPlane;
}

let zone: Zone;
let clusters: readonly [Cluster, Cluster];
const started: (() => Promise<void>)[] = [];

async function startCluster(name: string): Promise<Cluster> {
  const plane = await startControlPlane();
  started.push(() => plane.stop());
  const connected = connect(plane);
  started.push(() => connected.transport.close());
  await installCrd(connected.client, await dnsEndpointCrd(), DNS_ENDPOINTS);
  return { name, plane, ...connected };
}

async function startServer(): Promise<Zone> {
  const server = await startZone(DOMAIN);
  started.push(() => server.stop());
  return server;
}

beforeAll(async () => {
  const [server, a, b] = await Promise.all([startServer(), startCluster('cluster-a'), startCluster('cluster-b')]);
  zone = server;
  clusters = [a, b];
});

afterAll(async () => {
  await Promise.all(started.map((stop) => stop()));
});

function ingress(host: string, annotation: string | undefined): V1Ingress {
  const backend = { service: { name: 'web', port: { number: 80 } } };
  return {
    apiVersion: apiVersionOf(INGRESSES),
    kind: INGRESSES.kind,
    metadata: {
      ...{ name: host, namespace: 'default' },
      ...(annotation !== undefined && { annotations: { [`${ANNOTATION_PREFIX}/traffic-weight`]: annotation } }),
    },
    spec: { rules: [{ host: `${host}.${DOMAIN}`, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
  };
}

/** The settings that decide its records, in addition to the Ingress. */
interface Settings {
  readonly clusterName: string;
  readonly clusterWeight: number;
  readonly healthCheckId?: string;
  readonly addresses: readonly LoadBalancer[];
}

interface LoadBalancer {
  readonly hostname?: string;
  readonly ip?: string;
}

/** Creates an Ingress with a load balancer, and the DNSEndpoint that follows from it. */
async function publish(client: Client, { addresses, ...of }: Settings, made: V1Ingress): Promise<void> {
  const created = await client.create(INGRESSES, made);
  const ref = { name: created.metadata!.name!, namespace: 'default' };
  const status = { loadBalancer: { ingress: addresses } };
  const how = { fieldManager: FIELD_MANAGER, subresource: 'status' };
  const source = sourceOfIngress(await client.mergePatch(INGRESSES, ref, { status }, how));
  const settings = { ...of, bindingDomain: DOMAIN, annotationPrefix: ANNOTATION_PREFIX };
  const around = { endpoint: undefined, isReady: () => true, holderOf: () => undefined, zones: NO_ZONES };
  const endpoint = dnsEndpointOf(source, recordsOf(source, settings, around));
  await client.apply(DNS_ENDPOINTS, endpoint!, { fieldManager: FIELD_MANAGER, force: true });
}

const sync = ({ name, plane }: Cluster): Promise<void> =>
  syncRecords({ kubeconfig: plane.kubeconfig, owner: name, domain: DOMAIN, aws: zone.aws });

/** The record sets of a name. */
async function recordSets(host: string): Promise<ResourceRecordSet[]> {
  return (await zone.records()).filter(({ Name }) => Name === `${host}.${DOMAIN}.`);
}

/** The names and set identifiers of the marks of external-dns. */
const marks = async (): Promise<string[]> =>
  (await zone.marks()).map(({ Name, SetIdentifier }) => `${Name} ${SetIdentifier}`).sort();

describe('DNSEndpoints, published by the real external-dns', () => {
  it('are weighted record sets of both clusters, with the weights of the tables', async () => {
    const [a, b] = clusters;
    for (const [cluster, side] of [
      [a, 1],
      [b, 2],
    ] as const) {
      const addresses = [{ hostname: `${cluster.name}.example.net` }];
      for (const row of README_ROWS) {
        const [clusterWeight, annotation] = row[side];
        await publish(
          cluster.client,
          { clusterName: cluster.name, clusterWeight, addresses },
          ingress(row[0], annotation),
        );
      }
      await sync(cluster);
    }
    for (const [host, [, , weightA], [, , weightB]] of README_ROWS) {
      const found = (await recordSets(host)).map(({ Type, SetIdentifier, Weight, TTL, ResourceRecords }) => {
        return [Type, SetIdentifier, Weight, TTL, ResourceRecords?.[0]?.Value];
      });
      expect(found.sort(), host).toEqual([
        ['CNAME', 'cluster-a', weightA, 300, 'cluster-a.example.net'],
        ['CNAME', 'cluster-b', weightB, 300, 'cluster-b.example.net'],
      ]);
    }
  });

  it('lead to addresses where the load balancer has no name', async () => {
    const [{ client, name }] = clusters;
    const addresses = [{ ip: '192.0.2.1' }, { ip: '2001:db8::1' }];
    await publish(client, { clusterName: name, clusterWeight: 255, addresses }, ingress('addresses', undefined));
    await sync(clusters[0]);
    const found = (await recordSets('addresses')).map(({ Type, Weight, ResourceRecords }) => {
      return [Type, Weight, ResourceRecords?.[0]?.Value];
    });
    expect(found.sort()).toEqual([
      ['A', 255, '192.0.2.1'],
      ['AAAA', 255, '2001:db8::1'],
    ]);
  });

  it('have the health check of their cluster', async () => {
    const [{ client, name }] = clusters;
    const addresses = [{ hostname: 'lb.example.net' }];
    const settings = { clusterName: name, clusterWeight: 75, healthCheckId: 'abc-1', addresses };
    await publish(client, settings, ingress('checked', undefined));
    await sync(clusters[0]);
    expect(await recordSets('checked')).toMatchObject([{ Weight: 75, HealthCheckId: 'abc-1' }]);
    expect((await recordSets('half-half')).map(({ HealthCheckId }) => HealthCheckId)).toEqual([undefined, undefined]);
  });

  it('of a wildcard are one, too', async () => {
    const [{ client, name }] = clusters;
    const made = ingress('wildcard', '50');
    made.spec!.rules![0]!.host = `*.${DOMAIN}`;
    const addresses = [{ hostname: 'lb.example.net' }];
    await publish(client, { clusterName: name, clusterWeight: 75, addresses }, made);
    await sync(clusters[0]);
    // Route 53 lists an asterisk by its octal code.
    const found = (await zone.records()).filter(({ Name = '' }) => /^([*]|\\052)[.]example[.]org[.]$/.test(Name));
    expect(found.map(({ Type, SetIdentifier, Weight }) => [Type, SetIdentifier, Weight])).toEqual([
      ['CNAME', 'cluster-a', 38],
    ]);
  });

  it('are observed: their status has the generation that external-dns has read', async () => {
    const { metadata, status } = await clusters[0].client.get(DNS_ENDPOINTS, {
      name: 'half-half',
      namespace: 'default',
    });
    expect(status?.observedGeneration).toBe(metadata?.generation);
  });

  it('that are deleted take their record sets with them, and no others', async () => {
    const before = await marks();
    await clusters[0].client.delete(DNS_ENDPOINTS, { name: 'quarter', namespace: 'default' });
    await sync(clusters[0]);
    expect((await recordSets('quarter')).map(({ SetIdentifier }) => SetIdentifier)).toEqual(['cluster-b']);
    expect(await recordSets('half-half')).toHaveLength(2);
    const gone = before.filter((mark) => /[-.]quarter[.].* cluster-a$/.test(mark));
    expect(gone).not.toEqual([]);
    expect(await marks()).toEqual(before.filter((mark) => !gone.includes(mark)));
  });
});
