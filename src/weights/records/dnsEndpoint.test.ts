import { expect, it } from 'vitest';
import { dnsEndpointOf, isOf } from './dnsEndpoint.ts';
import { sourceOfIngress } from './source.ts';

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

it('is none without records', () => {
  expect(dnsEndpointOf(source, { endpoints: [], kept: undefined, hosts: [] })).toBeUndefined();
});

it.each([
  ['of the source', { kind: 'Ingress', uid: 'u1', controller: true }, true],
  ['of a source that was deleted and created again', { kind: 'Ingress', uid: 'u0', controller: true }, false],
  ['of another controller', { kind: 'Service', uid: 'u1', controller: true }, false],
  ['that only refers to the source', { kind: 'Ingress', uid: 'u1' }, false],
])('tells a DNSEndpoint %s', (_, owner, wanted) => {
  const ownerReferences = [{ apiVersion: 'v1', name: 'web', ...owner }];
  expect(isOf({ metadata: { ownerReferences } }, source)).toBe(wanted);
  expect(isOf({ metadata: {} }, source)).toBe(false);
});
