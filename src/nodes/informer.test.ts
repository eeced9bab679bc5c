import type { V1Node } from '@kubernetes/client-node';
import { beforeEach, describe, expect, it } from 'vitest';
import type { InformerEvent } from '../runtime/cache/informer.ts';
import { trimNode, type CachedNode } from './cachedNode.ts';
import { knownNodes } from './informer.ts';
import { annotated } from './statedCapacity.ts';

interface Described {
  capacity?: string;
  address?: string;
  version?: string;
  podCIDR?: string;
}

function node(name: string, { capacity, address = '198.18.0.1', version = '1', podCIDR }: Described = {}): CachedNode {
  const full: V1Node = {
    metadata: {
      name,
      resourceVersion: version,
      annotations: capacity === undefined ? {} : { 'traffic.example.com/capacity': capacity },
    },
    ...(podCIDR !== undefined && { spec: { podCIDRs: [podCIDR] } }),
    status: { addresses: [{ type: 'InternalIP', address }] },
  };
  return trimNode('mine')(full);
}

describe('knownNodes', () => {
  const held = new Map<string, CachedNode>();
  let tell: (event: InformerEvent<CachedNode>) => void;
  let known: ReturnType<typeof knownNodes>;

  beforeEach(() => {
    held.clear();
    known = knownNodes({
      lister: { get: (key) => held.get(key), list: () => [...held.values()], byIndex: () => [] },
      subscribe: (listener) => {
        tell = listener;
        return () => undefined;
      },
    });
    put(node('a'));
    put(node('b', { capacity: '25Gbit' }));
  });

  function put(object: CachedNode): void {
    const old = held.get(object.name);
    held.set(object.name, object);
    tell(old === undefined ? { type: 'add', object } : { type: 'update', object, old });
  }

  it('returns the addresses and the capacity annotations', () => {
    expect(Object.fromEntries(known())).toEqual({
      a: { addresses: ['198.18.0.1'] },
      b: { addresses: ['198.18.0.1'], capacity: annotated('25Gbit') },
    });
  });

  it('returns the ranges of the pods, and another map once they are known', () => {
    const before = known();
    put(node('a', { podCIDR: '10.244.1.0/24' }));
    expect(known()).not.toBe(before);
    expect(known().get('a')).toEqual({ addresses: ['198.18.0.1'], podCIDRs: ['10.244.1.0/24'] });
  });

  it('returns the same map until addresses or a capacity change', () => {
    const before = known();
    put(node('a', { version: '2' }));
    expect(known()).toBe(before);
  });

  it.each<[string, () => void, object]>([
    ['is added', () => put(node('c')), { c: { addresses: ['198.18.0.1'] } }],
    ['has another capacity', () => put(node('b', { capacity: '1Gbit' })), { b: { capacity: annotated('1Gbit') } }],
    ['has another address', () => put(node('a', { address: '198.18.0.9' })), { a: { addresses: ['198.18.0.9'] } }],
  ])('returns another map when a node %s', (_what, happen, expected) => {
    const before = known();
    happen();
    expect(known()).not.toBe(before);
    expect(Object.fromEntries(known())).toMatchObject(expected);
  });

  it('returns another map after a node is deleted', () => {
    known();
    held.delete('a');
    tell({ type: 'delete', object: node('a') });
    expect([...known().keys()]).toEqual(['b']);
  });
});
