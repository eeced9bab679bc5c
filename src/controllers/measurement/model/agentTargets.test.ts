import type { V1EndpointSlice } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { TARGET_SHARDS } from '../names.ts';
import { agentTargetsOf, MAX_FILE_BYTES, renderGroups } from './discovery.ts';

const slice = (service: string, addresses: Record<string, string>, addressType = 'IPv4'): V1EndpointSlice => ({
  metadata: { labels: { 'kubernetes.io/service-name': service } },
  addressType,
  ports: [{ name: 'peer', port: 8082 }],
  endpoints: Object.entries(addresses).map(([nodeName, address]) => ({ nodeName, addresses: [address] })),
});

describe('agentTargetsOf', () => {
  it('has one group for each node, with the network that each agent measures', () => {
    const slices = [
      slice('netchecker-agent-hostnet', { b: '192.168.0.2', a: '192.168.0.1' }),
      slice('netchecker-agent', { a: '10.244.0.7' }),
      slice('netchecker-agent', { b: 'fd00::2' }, 'IPv6'),
      slice('other', { c: '10.0.0.3' }),
    ];
    expect(agentTargetsOf(slices)).toEqual([
      { node: 'a', addresses: ['10.244.0.7:8082/Pod', '192.168.0.1:8082/Host'] },
      { node: 'b', addresses: ['[fd00::2]:8082/Pod', '192.168.0.2:8082/Host'] },
    ]);
  });

  it('has the agent that runs alone on a node', () => {
    expect(agentTargetsOf([slice('netchecker-agent-hostnet', { a: '192.168.0.1' })])).toEqual([
      { node: 'a', addresses: ['192.168.0.1:8082/Host'] },
    ]);
  });

  it.each([
    ['5,000 nodes, the most that Kubernetes supports, with the longest names', 5_000, 253],
    ['10,000 nodes with names as in a cloud', 10_000, 60],
  ])('fits into the ConfigMaps with %s', (_, count, length) => {
    const groups = Array.from({ length: count }, (_each, n) => ({
      node: String(n).padStart(length, 'n'),
      addresses: ['255.255.255.255:65535/Pod', '255.255.255.255:65535/Host'],
    }));
    const { files, omitted } = renderGroups(groups, TARGET_SHARDS);
    expect(omitted).toEqual([]);
    for (const file of files) expect(Buffer.byteLength(file)).toBeLessThanOrEqual(MAX_FILE_BYTES);
  });
});
