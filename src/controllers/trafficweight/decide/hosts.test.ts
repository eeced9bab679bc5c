import { describe, expect, it } from 'vitest';
import type { HostExplanation } from '../../../api/trafficweight/trafficWeight.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import { sourceOfIngress } from '../../../weights/records/source.ts';
import type { Candidate } from '../observe/observation.ts';
import { acceptedState, explain, explained, waitingOf, withCurrent } from './hosts.ts';

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

describe('the condition IngressesAccepted', () => {
  const fine: HostExplanation = { host: 'a', ingress: 'team-a/a', weight: 40, reason: 'ClusterWeight' };
  const refused: HostExplanation = { host: 'b', ingress: 'team-a/b', reason: 'Conflict', message: 'no' };
  /** Hosts of routes that one tenant has created, two of each. */
  const crowd = Array.from({ length: 3_000 }, (_, n): HostExplanation => {
    const message = `HTTPRoute team-a/web has the records of o${n}`;
    return { host: `o${n}`, httpRoute: `team-b/r${Math.floor(n / 2)}`, reason: 'OtherNamespace', message };
  });
  const LEFT_OUT =
    'Ingresses and HTTPRoutes that do not count for the weight of a host: 1500, the first HTTPRoute team-b/r0: HTTPRoute team-a/web has the records of o0';

  const NONE: readonly string[] = [];

  it('what is not read is named by its namespace, and is no health', () => {
    const beyond = ['team-b', 'team-a', 'team-b'];
    expect(acceptedState({ hosts: [fine], ingresses: 1, beyond })).toEqual({
      ...{ status: 'False', reason: 'NamespaceTooLarge' },
      message:
        '1 Ingresses and HTTPRoutes are accepted. Left out: 3 Ingresses and HTTPRoutes of the namespaces team-a, team-b, since the Ingresses, HTTPRoutes or ' +
        'DNSEndpoints there take more than 8 MiB, or more than the share of the namespace of the memory of the operator, or one has more than 4,000 hosts or cannot be read, or HTTPRoutes without host names take too many hosts from listeners. Their records are unchanged. Remove objects there, or make them smaller.',
    });
    const many = ['a', 'b', 'c', 'd'];
    expect(acceptedState({ hosts: [refused], ingresses: 1, beyond: many })).toMatchObject({ reason: 'Conflict' });
    expect(acceptedState({ hosts: [refused], ingresses: 1, beyond: many }).message).toContain(
      '4 Ingresses and HTTPRoutes of the namespaces a, b, c, ...,',
    );
  });

  it('routes of other namespaces are counted, the first is named, and the others are accepted', () => {
    expect(acceptedState({ hosts: [fine, ...crowd], ingresses: 1_501, beyond: NONE })).toEqual({
      ...{ status: 'True', reason: 'AllAccepted' },
      message: `All Ingresses and HTTPRoutes are accepted: 1501. ${LEFT_OUT}`,
    });
  });

  it('routes of other namespaces come after what is not accepted', () => {
    expect(acceptedState({ hosts: [...crowd, refused], ingresses: 1_501, beyond: NONE })).toEqual({
      ...{ status: 'False', reason: 'Conflict' },
      message: `1 of 1501 Ingresses and HTTPRoutes are not accepted, the first team-a/b: no. ${LEFT_OUT}`,
    });
  });

  it('hosts that other objects have are explained after those with another problem', () => {
    const unready: HostExplanation = { ...fine, host: 'z', reason: 'NoReadyEndpoints', message: 'no ready endpoint' };
    const list = explained([fine, ...crowd, refused, unready]);
    expect(list).toHaveLength(20);
    expect(list.slice(0, 3).map(({ reason }) => reason)).toEqual(['NoReadyEndpoints', 'Conflict', 'OtherNamespace']);
    expect(explained([fine, crowd[0]!]).map(({ host }) => host)).toEqual(['o0', 'a']);
  });

  it('routes that wait for a Gateway are counted, and the first is named', () => {
    const route = (name: string, over: Partial<Candidate> = {}): Candidate => ({
      source: { ...sourceOfIngress({ metadata: { name, namespace: 'shop' } }), kind: 'HTTPRoute' },
      open: { why: 'Gateway infra/public does not exist', hostnames: [`${name}.example.org`] },
      ...{ classNames: [], isKnown: false, isBeyond: false, namespaceLabels: {}, ...over },
    });
    const { open, ...known } = route('known', { isKnown: true });
    expect(open).toBeDefined();
    const candidates = [
      ...[route('b'), route('a'), route('any', { open: { why: 'no', hostnames: [] } }), known],
      route('elsewhere', { open: { why: 'no', hostnames: ['a.example.com'] } }),
    ];
    const spec = { clusterName: 'c', bindingDomain: 'example.org', backend: {} };
    const waiting = waitingOf(candidates, spec);
    expect(waiting).toHaveLength(3);
    expect(acceptedState({ hosts: [fine], ingresses: 1, beyond: NONE, waiting })).toMatchObject({
      status: 'True',
      message:
        'All Ingresses and HTTPRoutes are accepted: 1. HTTPRoutes that wait for a Gateway: 3, the first HTTPRoute shop/a: Gateway infra/public does not exist. ' +
        'Their hosts with records keep them. Check the controller of the Gateway, or correct parentRefs.',
    });
    expect(waitingOf(candidates, { ...spec, sources: ['Ingress'] })).toEqual([]);
  });
});
