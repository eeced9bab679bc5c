import { describe, expect, it } from 'vitest';
import {
  AMBIGUOUS,
  createNodeResolver,
  hostOf,
  unlistedAddressOf,
  type KnownNode,
  type Resolution,
} from './nodeNames.ts';

const NODES = new Map<string, KnownNode>([
  ['node-a', { addresses: ['Host-A.example.com', '10.0.0.1', 'fd00::1'] }],
  ['node-b', { addresses: ['10.0.0.2', '192.168.0.9'] }],
  ['node-c', { addresses: ['192.168.0.9', 'node-b'] }],
  ['10.9.9.9', {}],
]);
const resolver = createNodeResolver(NODES);

describe('a series with a node label', () => {
  it.each<[node: string, instance: string | undefined, expected: Resolution, why: string]>([
    ['node-a', undefined, 'node-a', 'the label is the name'],
    ['node-a', '10.0.0.2:9100', 'node-a', 'the label takes precedence over the address'],
    ['stranger', '10.0.0.1:9100', undefined, "another cluster's node may have the same address"],
    ['', '10.0.0.1:9100', 'node-a', 'an empty label counts as absent'],
    ['10.0.0.1', undefined, 'node-a', 'the label is an address of the node'],
    ['10.0.0.1:9100', '10.0.0.2:9100', 'node-a', 'the label is an address with a port, and takes precedence'],
    ['NODE-A', 'x', 'node-a', 'the label is the name in another case'],
    ['host-a.example.com', 'x', 'node-a', 'the label is the hostname'],
    ['192.168.0.9', '10.0.0.2:9100', AMBIGUOUS, 'two nodes have the address in the label'],
    ['Node-A.example.com', '10.0.0.1:9100', 'node-a', 'the label is a domain name of the node at this address'],
    ['node-a.example.com', '10.0.0.2:9100', undefined, 'the address is of another node'],
    ['node-a.example.com', '10.0.0.3:9100', undefined, 'no node has the address'],
    ['node-a.example.com', '192.168.0.9:9100', undefined, 'two nodes have the address'],
    ['10.0.0.7', '10.9.9.9:9100', undefined, 'another address, although both begin alike'],
    ['node', '10.0.0.1:9100', undefined, 'a part of the name is another name'],
  ])('%j at %j is %j: %s', (node, instance, expected) => {
    expect(resolver.resolve(node, instance)).toBe(expected);
  });
});

describe('a series without a node label', () => {
  it.each<[instance: string | undefined, expected: Resolution, why: string]>([
    ['node-a', 'node-a', "the node's name"],
    ['node-a:9100', 'node-a', 'its name and a port'],
    ['host-a.example.com:9100', 'node-a', 'its hostname, in any case'],
    ['NODE-A', 'node-a', 'names are case-insensitive, as in DNS'],
    ['10.0.0.1:9100', 'node-a', 'an address and a port'],
    ['10.0.0.1', 'node-a', 'an address'],
    ['[fd00::1]:9100', 'node-a', 'IPv6 with a port'],
    ['[fd00::1]', 'node-a', 'IPv6 in brackets'],
    ['fd00::1', 'node-a', 'IPv6 alone'],
    ['[FD00:0:0:0:0:0:0:1]:9100', 'node-a', 'the same address in its long form'],
    ['10.9.9.9:9100', '10.9.9.9', 'a node whose name is its address'],
    ['192.168.0.9:9100', AMBIGUOUS, 'two nodes have that address'],
    ['node-b:9100', 'node-b', 'a name takes precedence over the address of another node'],
    ['10.0.0.3:9100', undefined, 'an unknown address'],
    ['', undefined, 'nothing'],
    [undefined, undefined, 'nothing'],
    ['[', undefined, 'garbage'],
    [':9100', undefined, 'no host'],
    ['::::', undefined, 'garbage'],
  ])('at %j: %s', (instance, expected) => {
    expect(resolver.resolve(undefined, instance)).toBe(expected);
    expect(resolver.resolve(undefined, instance)).toBe(expected);
  });
});

describe('hostOf', () => {
  it('returns a bare IPv6 address unchanged', () => {
    expect(hostOf('fe80::1')).toBe('fe80::1');
  });
});

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
  expect(unlistedAddressOf(NODE, instance)?.podCIDR).toBe(podCIDR);
});

it.each<[why: string, podCIDRs: string[] | undefined, addresses: string[], expected: object | undefined]>([
  ['the ranges are not known', undefined, ['192.0.2.1'], { address: '10.244.1.7' }],
  ['the range contains the addresses of nodes, and this is one', ['10.244.0.0/16'], ['10.244.1.7'], undefined],
  ['the range is no range', ['10.244.1.0', '10.244.1.0/x', 'x/24'], ['192.0.2.1'], { address: '10.244.1.7' }],
  ['the Node lists its name only', undefined, ['host1'], undefined],
])('an address is not known to be of a pod if %s', (_why, podCIDRs, addresses, expected) => {
  const node = { addresses, ...(podCIDRs && { podCIDRs }) };
  expect(unlistedAddressOf(node, '10.244.1.7:9100')).toEqual(expected);
});

it.each(['127.0.0.1:9100', '127.1.2.3', '[::1]:9100'])('the loopback, %s, is of the node itself', (instance) => {
  expect(unlistedAddressOf(NODE, instance)).toBeUndefined();
});
