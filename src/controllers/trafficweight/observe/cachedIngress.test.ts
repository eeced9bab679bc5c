import type { V1Ingress } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { toCachedIngress } from './cachedIngress.ts';

const INGRESS: V1Ingress = {
  metadata: { namespace: 'shop', name: 'web' },
  spec: { rules: [{ host: 'web.example.org' }] },
  status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
};
const PENDING: V1Ingress = { ...INGRESS, status: {} };

it('leads to the load balancer, or to a name instead of it', () => {
  expect(toCachedIngress(INGRESS).source.targets).toEqual([{ recordType: 'A', targets: ['192.0.2.1'] }]);
  const named = [{ recordType: 'CNAME', targets: ['devmode'] }];
  expect(toCachedIngress(INGRESS, 'devmode').source.targets).toEqual(named);
  expect(toCachedIngress(PENDING, 'devmode').source.targets).toEqual(named);
});

it.each([
  ['none', {}, {}, undefined],
  ['the class of its spec', { ingressClassName: 'nginx' }, {}, 'nginx'],
  ['the class of the annotation, which is older', {}, { 'kubernetes.io/ingress.class': 'traefik' }, 'traefik'],
  [
    'the class of its spec, of both',
    { ingressClassName: 'nginx' },
    { 'kubernetes.io/ingress.class': 'traefik' },
    'nginx',
  ],
])('has as its class %s', (_, spec, annotations, wanted) => {
  const ingress: V1Ingress = { ...INGRESS, metadata: { ...INGRESS.metadata, annotations }, spec };
  expect(toCachedIngress(ingress).className).toBe(wanted);
});
