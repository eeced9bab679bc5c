import { expect, it } from 'vitest';
import { sourceOfIngress } from '../../../weights/records/source.ts';
import { explain } from './hosts.ts';

it('explains a host in at most 512 characters', () => {
  const source = sourceOfIngress({ metadata: { name: 'web', namespace: 'shop' } });
  const problem = `no ready endpoint of Service ${'s'.repeat(10_000)}`;
  const [explained] = explain({
    ...{ source, hosts: [{ host: 'a.example.org', weight: 0, reason: 'NoReadyEndpoints', problem }] },
    ...{ desired: {}, live: undefined, hasLostAddress: true },
  });
  expect(explained).toMatchObject({
    host: 'a.example.org',
    ingress: 'shop/web',
    weight: 0,
    reason: 'NoReadyEndpoints',
  });
  expect(explained?.message).toHaveLength(512);
});
