import { expect, it } from 'vitest';
import { BodyBudget, isWithoutBody } from '../../../runtime/cache/bodyBudget.ts';
import { isOf, sourceUidOf } from '../../../weights/records/dnsEndpoint.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import { identityOfEndpoint, toCachedEndpoint } from './cachedEndpoint.ts';

const CONTROLLER = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'web', uid: 'u', controller: true };
const LABELS = { 'traffic.example.com/trafficweight': 'weight', other: 'x' };
const endpoint = (owner: object): DnsEndpoint => ({
  metadata: { namespace: 'shop', name: 'web', labels: LABELS, ownerReferences: [{ ...CONTROLLER, ...owner }] },
  spec: { endpoints: [{ dnsName: 'web.example.org', recordType: 'A', targets: ['198.18.0.1'] }] },
});

it('a DNSEndpoint of an Ingress is kept', () => {
  expect(toCachedEndpoint(endpoint({}))).toEqual(endpoint({}));
});

it.each([[{ kind: 'Service' }], [{ controller: false }]])('of one with the owner %j only its name is kept', (owner) => {
  const cached = toCachedEndpoint(endpoint(owner));
  expect(cached).toMatchObject({ metadata: { name: 'web', labels: {} } });
  expect([cached.spec, sourceUidOf(cached)]).toEqual([undefined, undefined]);
});

it('beyond the budget it is known of which source and of which TrafficWeight it is', () => {
  const cached = new BodyBudget(1).keep(endpoint({}), identityOfEndpoint);
  expect([isWithoutBody(cached), cached.spec]).toEqual([true, undefined]);
  expect(isOf(cached, { kind: 'Ingress', uid: 'u' })).toBe(true);
  expect(cached.metadata?.labels).toEqual({ 'traffic.example.com/trafficweight': 'weight' });
});
