import type { V1EndpointSlice } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { operatorTargets, renderOperatorTargets } from './operatorPods.ts';

function slice(service: string, pods: Record<string, string>, more: Partial<V1EndpointSlice> = {}): V1EndpointSlice {
  return {
    metadata: { labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    ports: [{ name: 'metrics', port: 8080 }],
    endpoints: Object.entries(pods).map(([name, address]) => ({
      addresses: [address],
      conditions: { ready: false },
      targetRef: { kind: 'Pod', name },
    })),
    ...more,
  };
}

interface Row {
  why: string;
  slices: V1EndpointSlice[];
  ownPod?: string | undefined;
  targets: string[];
}

const rows: Row[] = [
  {
    why: 'all pods of the Service that selects this pod, ready or not, sorted by name',
    slices: [slice('any-name', { b: '10.0.0.2' }), slice('any-name', { a: '10.0.0.1' })],
    targets: ['a 10.0.0.1:8080', 'b 10.0.0.2:8080'],
  },
  {
    why: 'another Service of the namespace with a port of that name is not ours',
    slices: [slice('ours', { a: '10.0.0.1' }), slice('theirs', { x: '10.0.0.9' })],
    targets: ['a 10.0.0.1:8080'],
  },
  {
    why: 'a Service that selects this pod with another port is ignored',
    slices: [slice('ours', { a: '10.0.0.1' }, { ports: [{ name: 'web', port: 80 }] })],
    targets: [],
  },
  {
    why: 'a pod with two address families is one target',
    slices: [slice('ours', { a: 'fd00::1' }, { addressType: 'IPv6' }), slice('ours', { a: '10.0.0.1' })],
    targets: ['a 10.0.0.1:8080'],
  },
  {
    why: 'an IPv6 address is written in brackets',
    slices: [slice('ours', { a: 'fd00::1' }, { addressType: 'IPv6' })],
    targets: ['a [fd00::1]:8080'],
  },
  {
    why: 'an endpoint that is not a pod is ignored',
    slices: [slice('ours', { a: '10.0.0.1' }), slice('ours', {}, { endpoints: [{ addresses: ['10.0.0.7'] }] })],
    targets: ['a 10.0.0.1:8080'],
  },
  {
    why: 'outside of a cluster there is no pod',
    slices: [slice('s', { a: '10.0.0.1' })],
    ownPod: undefined,
    targets: [],
  },
];

describe('operatorTargets', () => {
  it.each(rows)('$why', (row) => {
    const ownPod = 'ownPod' in row ? row.ownPod : 'a';
    expect(operatorTargets(row.slices, ownPod).map(({ pod, address }) => `${pod} ${address}`)).toEqual(row.targets);
  });
});

describe('renderOperatorTargets', () => {
  it('renders JSON for file_sd', () => {
    expect(JSON.parse(renderOperatorTargets([{ pod: 'a', address: '10.0.0.1:8080' }]))).toEqual([
      { targets: ['10.0.0.1:8080'], labels: { pod: 'a' } },
    ]);
  });

  it('gives the pods of each other process of the release a job of their own', () => {
    const labelled = (service: string, pods: Record<string, string>, instance: string, component: string) =>
      slice(service, pods, {
        metadata: {
          labels: {
            'kubernetes.io/service-name': service,
            'app.kubernetes.io/component': component,
            'app.kubernetes.io/instance': instance,
            'app.kubernetes.io/part-of': 'traffic-operator',
          },
        },
      });
    const slices = [
      labelled('ours', { a: '10.0.0.1' }, 'release', 'manager'),
      labelled('weights', { w: '10.0.0.2' }, 'release', 'weights'),
      labelled('others', { x: '10.0.0.3' }, 'other', 'weights'),
      labelled('placement', { p: '10.0.0.4' }, 'release', 'placement-webhook'),
    ];
    expect(JSON.parse(renderOperatorTargets(operatorTargets(slices, 'a')))).toEqual([
      { targets: ['10.0.0.1:8080'], labels: { pod: 'a' } },
      { targets: ['10.0.0.2:8080'], labels: { pod: 'w', job: 'traffic-operator-weights' } },
      { targets: ['10.0.0.4:8080'], labels: { pod: 'p', job: 'traffic-operator-placement' } },
    ]);
  });
});
