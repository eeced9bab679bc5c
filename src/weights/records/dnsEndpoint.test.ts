import { expect, it } from 'vitest';
import { dnsEndpointOf, isOf, MOST_BYTES, refusalOf } from './dnsEndpoint.ts';
import { endpointsOf } from './endpoint.ts';
import { sourceOfIngress, type Source } from './source.ts';

const source = sourceOfIngress({ metadata: { name: 'web', namespace: 'shop', uid: 'u1' } });
const endpoint = { dnsName: 'app.example.org', targets: ['lb.example.net'], recordType: 'CNAME' };

it('has the name of its source, and is deleted with it', () => {
  expect(dnsEndpointOf(source, { endpoints: [endpoint], kept: { kind: 'Percent', percent: 25 }, hosts: [] })).toEqual({
    apiVersion: 'externaldns.k8s.io/v1alpha1',
    kind: 'DNSEndpoint',
    metadata: {
      name: 'web',
      namespace: 'shop',
      annotations: { 'traffic.example.com/last-valid-weight': '25%' },
      ownerReferences: [
        { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'web', uid: 'u1', controller: true },
      ],
    },
    spec: { endpoints: [endpoint] },
  });
});

const SETTINGS = { clusterName: 'a', bindingDomain: 'example.org', annotationPrefix: 'x', clusterWeight: 75 };
const hosts = (count: number, length: number, domain = '.example.org') =>
  Array.from({ length: count }, (_, n) => ({
    host: `${n}-`.padEnd(length - domain.length, 'x') + domain,
    services: [],
    leadsNowhere: false,
  }));
const addressed = { ...source, targets: [{ recordType: 'CNAME', targets: ['lb.example.net'] }] } as const;

it.each<[string, Partial<Source>, string | undefined]>([
  ['an Ingress with the longest name', { name: 'n'.repeat(253) }, undefined],
  ['an HTTPRoute with the longest possible name', { kind: 'HTTPRoute', name: 'n'.repeat(243) }, undefined],
  ['an HTTPRoute with a longer name', { kind: 'HTTPRoute', name: 'n'.repeat(244) }, 'NameTooLong'],
  ['4,000 hosts of usual length', { hosts: hosts(4_000, 60) }, undefined],
  ['3,900 long hosts', { hosts: hosts(3_900, 250) }, 'TooLarge'],
  ['3,900 long hosts outside of the domain', { hosts: hosts(3_900, 250, '.example.com') }, undefined],
])('is refused or not beforehand: %s', (_, over, reason) => {
  expect(refusalOf({ ...addressed, ...over }, SETTINGS)?.reason).toBe(reason);
});

it('is not larger than its estimate', () => {
  const many = hosts(10_000, 100);
  const bytes = Number(/have (\d+) bytes/.exec(refusalOf({ ...addressed, hosts: many }, SETTINGS)?.problem ?? '')?.[1]);
  const records = many.flatMap(({ host }) =>
    endpointsOf({ host }, 75, [{ ...addressed.targets[0], ttl: undefined }], SETTINGS),
  );
  expect(bytes).toBeGreaterThanOrEqual(JSON.stringify(records).length - records.length);
  expect(bytes).toBeGreaterThan(MOST_BYTES);
});

it('is none without records', () => {
  expect(dnsEndpointOf(source, { endpoints: [], kept: undefined, hosts: [] })).toBeUndefined();
});

it.each([
  ['of the source', { kind: 'Ingress', uid: 'u1', controller: true }, true],
  ['of a source that was deleted and created again', { kind: 'Ingress', uid: 'u0', controller: true }, false],
  ['of another controller', { kind: 'Service', uid: 'u1', controller: true }, false],
  ['of the source under another name', { kind: 'Ingress', name: 'x', uid: 'u1', controller: true }, false],
  [
    'of a kind of another API group',
    { apiVersion: 'none.example/v1', kind: 'Ingress', uid: 'u1', controller: true },
    false,
  ],
  [
    'of the source in another version',
    { apiVersion: 'networking.k8s.io/v1beta1', kind: 'Ingress', uid: 'u1', controller: true },
    true,
  ],
  ['that only refers to the source', { kind: 'Ingress', uid: 'u1' }, false],
])('tells a DNSEndpoint %s', (_, owner, wanted) => {
  const ownerReferences = [{ apiVersion: 'networking.k8s.io/v1', name: 'web', ...owner }];
  expect(isOf({ metadata: { ownerReferences } }, source)).toBe(wanted);
  expect(isOf({ metadata: {} }, source)).toBe(false);
});
