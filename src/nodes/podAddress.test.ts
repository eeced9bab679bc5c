import { expect, it } from 'vitest';
import { podAddressOf } from './nodeNames.ts';

const NODE = { addresses: ['host1', '192.0.2.1', 'fd00::1'], podCIDRs: ['10.244.1.0/24', 'fd00:10:244::/64'] };

it.each<[why: string, instance: string | undefined, podCIDR: string | undefined]>([
  ['there is none', undefined, undefined],
  ['it is the name of the node', 'host1', undefined],
  ['it is another name', 'node-exporter.monitoring:9100', undefined],
  ['it is the address of the node', '192.0.2.1:9100', undefined],
  ['it is the IPv6 address of the node, written otherwise', '[FD00:0::1]:9100', undefined],
  ['it is the address of a second NIC, or one behind NAT', '203.0.113.7:9100', undefined],
  ['it is in the range of another node', '10.244.2.7:9100', undefined],
  ['it is in the range of the pods', '10.244.1.7:9100', '10.244.1.0/24'],
  ['it has no port', '10.244.1.255', '10.244.1.0/24'],
  ['it is in the IPv6 range of the pods', '[fd00:10:244::7]:9100', 'fd00:10:244::/64'],
])('%s: %s is of a pod: %s', (_why, instance, podCIDR) => {
  expect(podAddressOf(NODE, instance)?.podCIDR).toBe(podCIDR);
});

it.each<[why: string, podCIDRs: string[] | undefined, addresses: string[]]>([
  ['the ranges are not known', undefined, ['192.0.2.1']],
  ['the range contains the addresses of nodes, and this is one', ['10.244.0.0/16'], ['10.244.1.7']],
  ['the range is no range', ['10.244.1.0', '10.244.1.0/x', '10.244.1.0/33', 'x/24'], ['192.0.2.1']],
])('nothing is of a pod if %s', (_why, podCIDRs, addresses) => {
  const node = { addresses, ...(podCIDRs && { podCIDRs }) };
  expect(podAddressOf(node, '10.244.1.7:9100')).toBeUndefined();
});
