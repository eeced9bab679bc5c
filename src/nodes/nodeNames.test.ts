import { describe, expect, it } from 'vitest';
import { AMBIGUOUS, createNodeResolver, hostOf } from './nodeNames.ts';
import type { KnownNode, Resolution } from './nodeNames.ts';

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
