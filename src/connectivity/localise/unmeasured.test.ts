import { describe, expect, it } from 'vitest';
import { localise } from './localise.ts';
import { agents, healthy, measured } from './testing/views.ts';
import type { AgentView, ClusterView } from './view.ts';

const SILENT = { state: 'Silent', peers: [], targets: [], heard: [] as string[] } as const;

describe('the parts of a check without any result', () => {
  const probes = { dns: true, apiServer: true, mtu: true };
  const BOTH = { Pod: ['IPv4'], Host: ['IPv4'] } as const;
  const ASKED: ClusterView['asked'] = { planes: ['Pod', 'Host'], probes, families: BOTH };
  const unmeasured = (view: ClusterView, asked: Partial<NonNullable<ClusterView['asked']>> = {}) =>
    localise({ ...view, asked: { ...ASKED, ...asked } }).unmeasured;
  const without = (target: string) =>
    agents(healthy(3), ({ targets }) => ({ targets: targets.filter((one) => one.target !== target) }));

  it('are none if each has one result', () => {
    expect(unmeasured(healthy(3))).toEqual([]);
    expect(localise({ ...healthy(3), asked: ASKED }).unasked).toEqual([]);
  });

  it('are a network without agents, or whose agents report nothing', () => {
    const view = healthy(3);
    const pods = view.agents.filter(({ plane }) => plane === 'Pod');
    expect(unmeasured({ ...view, agents: pods })).toEqual([{ plane: 'Host' }]);
    expect(unmeasured({ ...view, agents: pods }, { planes: ['Pod'] })).toEqual([]);
    expect(unmeasured(agents(view, ({ plane }) => (plane === 'Pod' ? { peers: [] } : {})))).toEqual([{ plane: 'Pod' }]);
  });

  it('are, of one node, the networks whose agents do not report', () => {
    const view = healthy(1);
    expect(unmeasured(view)).toEqual([]);
    expect(unmeasured(agents(view, ({ plane }) => (plane === 'Pod' ? SILENT : {})))).toEqual([{ plane: 'Pod' }]);
  });

  it.each([['DNSUDP'], ['DNSTCP'], ['APIServer']] as const)('are %s, which no agent has asked', (of) => {
    expect(unmeasured(without(of))).toEqual([{ of }]);
    expect(unmeasured(without(of), { probes: { ...probes, dns: false, apiServer: false } })).toEqual([]);
  });

  it('are a service of which only agents that have just started have no answer', () => {
    const silent = agents(healthy(3), ({ targets }) => ({
      recent: true,
      targets: targets.map((one) => (one.target === 'APIServer' ? { ...one, ok: false } : one)),
    }));
    expect(unmeasured(silent)).toEqual([{ of: 'APIServer' }]);
  });

  it('are UDP, the packet sizes, and an address family that agents have', () => {
    const noMtu = agents(healthy(3), ({ plane, peers }) =>
      plane === 'Pod' ? { peers: peers.map(({ node, address, tcp, udp }) => ({ node, address, tcp, udp })) } : {},
    );
    expect(unmeasured(noMtu)).toEqual([{ plane: 'Pod', of: 'MTU' }]);
    expect(unmeasured(noMtu, { probes: { ...probes, mtu: false } })).toEqual([]);
    const noUdp = measured(healthy(3), ({ plane }) => (plane === 'Host' ? { udp: { sent: 0, received: 0 } } : {}));
    expect(unmeasured(noUdp)).toEqual([{ plane: 'Host', of: 'UDP' }]);
    const families = { Pod: ['IPv4', 'IPv6'], Host: ['IPv4'] } as const;
    expect(unmeasured(healthy(3), { families })).toEqual([{ plane: 'Pod', of: 'IPv6' }]);
  });

  describe('are the network of a node', () => {
    const OF_NODE2 = [{ plane: 'Pod', of: 'Nodes', node: 'node2', count: 1 }];
    const ALONE = ['node10', 'node9'];
    const change = (one: Partial<AgentView>) =>
      agents(healthy(4), ({ node, plane, peers }) => {
        if (plane === 'Host') return {};
        return node === 'node2' ? { peers: [], ...one } : { peers: peers.filter((peer) => peer.node !== 'node2') };
      });

    it('that nobody measures, and that measures nobody', () => {
      expect(unmeasured(change({}))).toEqual(OF_NODE2);
      const { findings, unobserved } = localise({ ...change({}), asked: ASKED });
      expect([findings, unobserved]).toEqual([[], [{ node: 'node2', plane: 'Pod' }]]);
    });

    it('that nobody measures, although its agent is blind: there is no finding', () => {
      const view = change({ isBlind: true });
      expect(unmeasured(view)).toEqual(OF_NODE2);
      expect(localise(view).findings).toEqual([]);
    });

    it('unless others measure it: its blind agent is a finding', () => {
      const view = agents(healthy(4), ({ node, plane }) =>
        node === 'node2' && plane === 'Pod' ? { peers: [], isBlind: true } : {},
      );
      expect(unmeasured(view)).toEqual([]);
      expect(localise(view).findings).toMatchObject([{ class: 'Agent', severity: 'Degraded' }]);
    });

    it('with their number, the first by name', () => {
      const view = agents(healthy(12), ({ node, peers }) => ({
        peers: ALONE.includes(node) ? [] : peers.filter((peer) => !ALONE.includes(peer.node)),
      }));
      expect(unmeasured(view)).toEqual([
        { plane: 'Pod', of: 'Nodes', node: 'node10', count: 2 },
        { plane: 'Host', of: 'Nodes', node: 'node10', count: 2 },
      ]);
    });

    it('unless its peers are left out, as while they are drained', () => {
      const view = agents(healthy(4), ({ node, plane, peers }) => {
        if (plane === 'Host') return {};
        return { peers: peers.filter((peer) => (node === 'node2' ? peer.node === 'node1' : peer.node !== 'node2')) };
      });
      expect(unmeasured(view)).toEqual([]);
      const nodes = view.nodes.map((one) => (one.name === 'node1' ? { ...one, excluded: 'Cordoned' as const } : one));
      expect(unmeasured({ ...view, nodes })).toEqual([]);
    });

    it.each<[string, Partial<AgentView>]>([
      ['has just started', { recent: true }],
      ['starts', { state: 'Starting' }],
      ['is replaced', { state: 'Absent' }],
    ])('unless its agent %s', (_, one) => {
      expect(unmeasured(change(one))).toEqual([]);
    });
  });

  it('leave out what some nodes have, which is unasked at the others', () => {
    const view = agents(healthy(3), ({ node, targets }) => ({
      targets: node === 'node2' ? targets.filter(({ target }) => target !== 'DNSUDP') : targets,
    }));
    const { unasked, unmeasured: none } = localise({ ...view, asked: ASKED });
    expect([unasked, none]).toEqual([[{ node: 'node2', target: 'DNSUDP' }], []]);
  });
});
