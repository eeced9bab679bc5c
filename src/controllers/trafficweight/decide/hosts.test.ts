import { expect, it } from 'vitest';
import { sourceOfIngress } from '../../../weights/records/source.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import { explain, withCurrent } from './hosts.ts';

it('explains a host in at most 512 characters', () => {
  const source = sourceOfIngress({ metadata: { name: 'web', namespace: 'shop' } });
  const problem = `no ready endpoint of Service ${'s'.repeat(10_000)}`;
  const [explained] = explain(
    {
      ...{ source, hosts: [{ host: 'a.example.org', weight: 0, reason: 'NoReadyEndpoints', problem }] },
      ...{ desired: {}, live: undefined, hasLostAddress: true },
    },
    { weight: 40 },
  );
  expect(explained).toMatchObject({
    host: 'a.example.org',
    ingress: 'shop/web',
    weight: 0,
    reason: 'NoReadyEndpoints',
  });
  expect(explained?.message).toHaveLength(512);
});

it('has the weight that external-dns has read, if it has read the DNSEndpoint as it is', () => {
  const endpoint = (observedGeneration: number | undefined, weight: string): DnsEndpoint => ({
    metadata: { generation: 2 },
    spec: {
      endpoints: [{ dnsName: 'A.example.org', providerSpecific: [{ name: 'aws/weight', value: weight }] }] as never,
    },
    ...(observedGeneration !== undefined && { status: { observedGeneration } }),
  });
  const current = (one: DnsEndpoint | undefined): number | undefined => {
    const host = { host: 'a.example.org', ingress: 'shop/web', weight: 7, reason: 'ClusterWeight' } as const;
    const source = sourceOfIngress({ metadata: { name: 'web', namespace: 'shop' } });
    return withCurrent([[{ source }, [host]]], new Map([['shop/web', one]]))[0]?.currentWeight;
  };
  expect(current(endpoint(2, '5'))).toBe(5);
  expect(current(endpoint(2, 'NaN'))).toBeUndefined();
  expect(current(endpoint(1, '5'))).toBeUndefined();
  expect(current(endpoint(undefined, '5'))).toBeUndefined();
  expect(current(undefined)).toBeUndefined();
});

it('says how the weight of a host comes about, and that it is a step of a ramp', () => {
  const source = sourceOfIngress({ metadata: { name: 'web', namespace: 'shop' } });
  const factors = { clusterWeight: 20, share: 50, isReady: true };
  const host = { host: 'a.example.org', weight: 10, reason: 'Annotation', factors } as const;
  const planned = { source, hosts: [host], desired: {}, live: undefined, hasLostAddress: false };
  const state = { from: 0, target: 60, weight: 20, phase: 'Progressing', failures: 0 } as const;
  expect(explain(planned, { weight: 20, state })).toMatchObject([
    { calculation: 'cluster 20 (ramp to 60) x annotation 50 % x ready = 10' },
  ]);
});
