import type { V1Endpoint, V1EndpointSlice } from '@kubernetes/client-node';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_FILE_BYTES, renderTargetFiles, targetsOf } from './discovery.ts';
import type { Target } from './discovery.ts';

const PORT = 'metrics';

function slice(endpoints: V1Endpoint[], more: Partial<V1EndpointSlice> = {}): V1EndpointSlice {
  return { addressType: 'IPv4', ports: [{ name: PORT, port: 9100, protocol: 'TCP' }], endpoints, ...more };
}

function endpoint(
  nodeName: string | undefined,
  address: string,
  conditions: V1Endpoint['conditions'] = {},
): V1Endpoint {
  return { addresses: [address], conditions, ...(nodeName === undefined ? {} : { nodeName }) };
}

describe('targetsOf', () => {
  const rows: [why: string, slices: V1EndpointSlice[], targets: Target[]][] = [
    ['no slice yet: nothing to scrape', [], []],
    [
      'a slice that was just created may have null lists',
      [{ addressType: 'IPv4', endpoints: null as unknown as [] }],
      [],
    ],
    [
      'a Service of more than 100 endpoints has several slices, and all are read',
      [slice([endpoint('b', '10.0.0.2')]), slice([endpoint('a', '10.0.0.1')])],
      [
        { node: 'a', address: '10.0.0.1:9100' },
        { node: 'b', address: '10.0.0.2:9100' },
      ],
    ],
    [
      'an IPv6 host is written in brackets',
      [slice([endpoint('a', 'fd00::1')], { addressType: 'IPv6' })],
      [{ node: 'a', address: '[fd00::1]:9100' }],
    ],
    [
      'an exporter that is not ready is a target, so that up shows it',
      [slice([endpoint('a', '10.0.0.1', { ready: false, serving: false })])],
      [{ node: 'a', address: '10.0.0.1:9100' }],
    ],
    ['an endpoint without a node name is ignored', [slice([endpoint(undefined, '10.0.0.1')])], []],
    [
      'a slice with host names instead of addresses is ignored',
      [slice([endpoint('a', 'a.example')], { addressType: 'FQDN' })],
      [],
    ],
    [
      'a port of another name is ignored',
      [slice([endpoint('a', '10.0.0.1')], { ports: [{ name: 'web', port: 80 }] })],
      [],
    ],
    [
      'during an update to another port, only the ready endpoint is scraped',
      [
        slice([endpoint('a', '10.0.0.1', { ready: true, terminating: true })]),
        slice([endpoint('a', '10.0.0.1', { ready: true })], { ports: [{ name: PORT, port: 9200 }] }),
      ],
      [{ node: 'a', address: '10.0.0.1:9200' }],
    ],
    [
      'a terminating endpoint is better than none',
      [slice([endpoint('a', '10.0.0.1', { ready: false, terminating: true })])],
      [{ node: 'a', address: '10.0.0.1:9100' }],
    ],
    [
      'a node with two address families is one target, or its bytes would count twice',
      [slice([endpoint('a', 'fd00::1')], { addressType: 'IPv6' }), slice([endpoint('a', '10.0.0.1')])],
      [{ node: 'a', address: '10.0.0.1:9100' }],
    ],
  ];

  it.each(rows)('%s', (_, slices, targets) => {
    expect(targetsOf(slices, PORT)).toEqual(targets);
  });

  it('does not depend on the order of slices and endpoints', () => {
    const anyEndpoint = fc.record({
      nodeName: fc.constantFrom('a', 'b', 'c', 'd', undefined),
      addresses: fc.tuple(fc.ipV4()),
      conditions: fc.record({ ready: fc.boolean(), terminating: fc.boolean() }),
    }) as fc.Arbitrary<V1Endpoint>;
    const anySlices = fc.array(fc.array(anyEndpoint, { maxLength: 6 }), { maxLength: 4 });
    const shuffled = anySlices.chain((lists) =>
      fc.tuple(fc.constant(lists), fc.shuffledSubarray(lists.flat(), { minLength: lists.flat().length })),
    );
    fc.assert(
      fc.property(shuffled, ([lists, mixed]) => {
        const inOrder = targetsOf(
          lists.map((list) => slice(list)),
          PORT,
        );
        expect(targetsOf([slice(mixed)], PORT)).toEqual(inOrder);
        expect(new Set(inOrder.map(({ node }) => node)).size).toBe(inOrder.length);
      }),
    );
  });
});

describe('renderTargetFiles', () => {
  const parse = (file: string): unknown => JSON.parse(file);

  it('writes an empty list if there is nothing to scrape', () => {
    expect(renderTargetFiles([], 1)).toEqual({ files: ['[]\n'], count: 0, omitted: [] });
  });

  it('gives each target the label of its node', () => {
    const { files } = renderTargetFiles([{ node: 'a', address: '[fd00::1]:9100' }], 1);
    expect(parse(files[0]!)).toEqual([{ targets: ['[fd00::1]:9100'], labels: { node: 'a' } }]);
  });

  it('starts another file when one is full, and omits nothing', () => {
    const targets = many(10_000);
    const { files, omitted, count } = renderTargetFiles(targets, 2);
    expect(files).toHaveLength(2);
    expect(files.map((file) => Buffer.byteLength(file) <= MAX_FILE_BYTES)).toEqual([true, true]);
    expect(files.flatMap((file) => parse(file) as unknown[])).toHaveLength(10_000);
    expect({ omitted, count }).toEqual({ omitted: [], count: 10_000 });
  });

  it('names the nodes that do not fit, the last ones by name', () => {
    // The last node would fit, but then the choice of nodes would depend on the length of their names.
    const targets = [...many(3), { node: 'z', address: '10.0.0.9:9100' }];
    const { files, omitted, count } = renderTargetFiles(targets, 1, 180);
    expect(omitted).toEqual([...['node-00001', 'node-00002'].map(longName), 'z']);
    expect(count).toBe(1);
    expect(parse(files[0]!)).toHaveLength(1);
  });

  it('fills every file to its bound and never beyond', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 120, max: 1000 }), (nodes, maxBytes) => {
        const targets = many(nodes);
        const { files, omitted } = renderTargetFiles(targets, 3, maxBytes);
        expect(files.every((file) => Buffer.byteLength(file) <= maxBytes)).toBe(true);
        expect(files.flatMap((file) => parse(file) as unknown[]).length + omitted.length).toBe(nodes);
      }),
    );
  });
});

function longName(name: string): string {
  return `${name}.eu-central-1.compute.internal`;
}

function many(count: number): Target[] {
  return Array.from({ length: count }, (_, index) => ({
    node: longName(`node-${String(index).padStart(5, '0')}`),
    address: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}:9100`,
  }));
}
