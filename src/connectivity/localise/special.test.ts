import { describe, expect, it } from 'vitest';
import type { PeerResult } from '../protocol/measurement.ts';
import { localise } from './localise.ts';
import { FAMILIES } from './pairs/quality.ts';
import { seeded } from './testing/random.ts';
import { clusterOf } from './testing/simCluster.ts';
import { simulate } from './testing/simulate.ts';
import { agents, healthy, measured } from './testing/views.ts';
import type { AgentView, ClusterView } from './view.ts';

const TIMEOUT = { ok: false, error: 'Timeout' } as const;

function found(view: ClusterView): string[] {
  return localise(view).findings.map(({ class: one, subjects, severity }) => `${one} ${subjects.join()} ${severity}`);
}

const NOTHING = { findings: [], unconfirmed: [], unasked: [], unmeasured: [] };
const SILENT = { state: 'Silent', peers: [], targets: [], heard: [] as string[] } as const;
const DEAD = { tcp: TIMEOUT, udp: { sent: 20, received: 0 } };

describe('localise, what the simulated faults do not cover', () => {
  it('names a node that others do not reach, although it reaches them', () => {
    const view = measured(healthy(6), ({ plane }, { node }) => (plane === 'Host' && node === 'node4' ? DEAD : {}));
    const [finding] = localise(view).findings;
    expect(found(view)).toEqual(['HostNetwork node4 Failed']);
    expect(finding?.message).toContain('towards the node');
  });

  it('names the pair where a firewall drops TCP of one direction', () => {
    const view = measured(healthy(6), (from, to) =>
      from.node === 'node2' && to.node === 'node5' ? { tcp: TIMEOUT } : {},
    );
    expect(found(view)).toEqual(['Link node2 -> node5 Failed']);
  });

  it('counts a pair with two address families once', () => {
    const view = simulate(clusterOf(5, 1, { families: FAMILIES }), [], seeded(1));
    expect(localise(view)).toMatchObject({ findings: [], observedPairs: 40 });
  });

  it('blames the server, not 10 agents, if only its own node reports', () => {
    const view = agents(healthy(6), ({ node }) => (node === 'node1' ? {} : SILENT));
    expect(found(view)).toEqual(['Server reports Failed']);
  });

  it('says of an agent that does not run only this: that others do not reach it is no fault of the network', () => {
    const view = measured(healthy(6), (_, { node }) => (node === 'node4' ? DEAD : {}));
    const broken = agents(view, ({ node }) =>
      node === 'node4' ? { ...SILENT, state: 'Broken', problem: 'CrashLoopBackOff, exit code 1' } : {},
    );
    expect(found(broken)).toEqual(['Agent host-node4 Degraded', 'Agent pod-node4 Degraded']);
    expect(localise(broken).findings[0]?.message).toBe(
      'agent host-node4 on node4 does not run: CrashLoopBackOff, exit code 1',
    );
  });

  describe('a kubelet', () => {
    const silent = { target: 'Kubelet', address: '127.0.0.1:10248', ok: false, error: 'Timeout' } as const;
    /** The kubelet of node2 does not answer in the last measurement. @param before what failed in the measurement before */
    const view = (before: AgentView['targets'] | undefined): ClusterView =>
      agents(healthy(3), ({ node, plane, targets }) => {
        if (node !== 'node2' || plane !== 'Host') return {};
        const nothing = { peers: [], unprobed: [], unasked: [] };
        const known = before && { before: { measuredAt: 10_000, reportedAt: 11_000, targets: before, ...nothing } };
        const times = { measuredAt: 25_000, reportedAt: 26_000, ...known };
        return { times, targets: targets.map((one) => (one.target === 'Kubelet' ? silent : one)) };
      });

    it('that does not answer twice in a row is a finding of its node', () => {
      expect(found(view([silent]))).toEqual(['Node node2 Failed']);
    });

    it.each([
      ['once', []],
      ['in the first measurement that is known', undefined],
    ])('that does not answer %s is no finding, but keeps the finding of its node', (_, before) => {
      const { findings, unconfirmed } = localise(view(before));
      expect(findings).toEqual([]);
      expect(unconfirmed).toMatchObject([{ class: 'Node', subjects: ['node2'] }]);
    });
  });

  describe('the API server by a name', () => {
    const failing = (address: string, error: 'NotFound' | 'Refused', hasDns = true): ClusterView =>
      agents(healthy(3), ({ targets }) => ({
        targets: targets
          .filter(({ target }) => hasDns || !target.startsWith('DNS'))
          .map(({ target, ...one }) =>
            target === 'APIServer'
              ? { target, address, ok: false, error }
              : { target, ...one, ok: !target.startsWith('DNS') },
          ),
      }));
    const [DNS, API] = ['DNS cluster Failed', 'APIServer cluster Failed'];

    it.each<[string, ClusterView, string[]]>([
      ['is explained by the DNS that does not answer', failing('api.example.org:443', 'NotFound'), [DNS]],
      ['has a finding if it was looked up', failing('api.example.org:443', 'Refused'), [DNS, API]],
      ['has a finding if no check asks the DNS', failing('api.example.org:443', 'NotFound', false), [API]],
      ['has a finding if its address is a number', failing('198.18.1.1:443', 'NotFound'), [DNS, API]],
      ['has a finding if its address is a number of IPv6', failing('[fd00::1]:443', 'NotFound'), [DNS, API]],
    ])('%s', (_, view, findings) => expect(found(view)).toEqual(findings));
  });

  describe('round trips that take longer than elsewhere', () => {
    const took = (ms: number): Partial<PeerResult> => ({ udp: { sent: 20, received: 20, ms } });
    const slow = (ms: number, size: number, isSlow: (from: AgentView, to: PeerResult) => boolean, rest = 0.5) =>
      measured(healthy(size), (from, to) => took(isSlow(from, to) ? ms : rest));
    const ofNode2 = ({ node, plane }: AgentView, peer: PeerResult): boolean =>
      plane === 'Pod' && [node, peer.node].includes('node2');

    it.each([950, 1_200, 4_000])('by %i ms at a node are of the class Latency', (ms) => {
      const { findings } = localise(slow(ms, 3, ofNode2));
      expect(findings).toMatchObject([
        {
          ...{ class: 'Latency', subjects: ['node2'], severity: 'Degraded' },
          message: `pod network of node2: 4 of 4 pairs are slow, round trips of up to ${ms} ms`,
          evidence: { affectedPairs: 4, observedPairs: 4 },
        },
      ]);
      expect(findings[0]?.evidence.pairs[0]?.measured).toBe(`TCP ok, UDP 20 of 20 echoed, round trip ${ms} ms`);
    });

    it.each<[string, ClusterView, string[]]>([
      [
        'between two nodes are of the link',
        slow(400, 6, ({ node, plane }, to) => plane === 'Host' && [node, to.node].sort().join() === 'node2,node4'),
        ['Latency node2 <-> node4 Degraded'],
      ],
      [
        'at a node whose pairs are most of the cluster are of the node',
        slow(1_000, 3, ({ node }, to) => [node, to.node].includes('node2')),
        ['Latency node2 Degraded'],
      ],
      ['everywhere are of the cluster', slow(1_000, 4, () => true), ['Latency cluster Degraded']],
      ['by 150 ms may be the distance of a site', slow(150, 6, ofNode2), []],
      ['by 400 ms, in a cluster whose median is 200 ms, are the distance', slow(400, 6, ofNode2, 200), []],
      ['everywhere by 650 ms are satellites', slow(650, 6, () => true), []],
    ])('%s', (_, view, findings) => expect(found(view)).toEqual(findings));
  });

  describe('a probe that is refused', () => {
    const REFUSED = { tcp: { ok: false, error: 'Refused' }, udp: { sent: 20, received: 0 } } as const;
    const all = measured(healthy(4), () => REFUSED);
    const ofNode2 = (from: AgentView, to: PeerResult): boolean => [from.node, to.node].includes('node2');

    it('by agents that all report is rejected by the network', () => {
      expect(found(all)).toEqual(['PodNetwork cluster Failed', 'HostNetwork cluster Failed']);
      expect(localise(all).findings[0]?.message).toContain('12 of 12 pairs fail (TCP refused, UDP 0 of 20 echoed)');
    });

    it('from and towards one agent that reports is rejected by the network of its node', () => {
      const view = measured(healthy(4), (from, to) => (from.plane === 'Host' && ofNode2(from, to) ? REFUSED : {}));
      expect(found(view)).toEqual(['HostNetwork node2 Failed']);
    });

    it('towards an agent that reports, and reaches others, is rejected by its node', () => {
      const view = measured(healthy(4), ({ plane }, { node }) => (plane === 'Pod' && node === 'node2' ? REFUSED : {}));
      expect(found(view)).toEqual(['PodNetwork node2 Failed']);
    });

    it.each<[string, ClusterView]>([
      ['agents that started a moment ago', agents(all, () => ({ recent: true }))],
      [
        'agents that report, and measure nothing: originals do not listen',
        agents(
          measured(healthy(4), (_, { node }) => (node === 'node2' ? REFUSED : {})),
          ({ node }) => (node === 'node2' ? { peers: [] } : {}),
        ),
      ],
      [
        'hosts that echo datagrams: their programs are busy',
        measured(healthy(4), () => ({ ...REFUSED, udp: { sent: 20, received: 20 } })),
      ],
    ])('is no fault of the network with %s', (_, view) => expect(found(view)).toEqual([]));

    /** All agents measured at 10 s and 25 s, and reported a second later, node2 last at the given time. */
    const twice = (view: ClusterView, before: readonly PeerResult['tcp'][], node2: number): ClusterView =>
      agents(view, ({ node, peers }) => {
        const flawed = before.flatMap((tcp) => peers.map((peer) => ({ ...peer, ...REFUSED, tcp })));
        const nothing = { targets: [], unprobed: [], unasked: [] };
        const last = { measuredAt: 10_000, reportedAt: 11_000, peers: flawed, ...nothing };
        return { times: { measuredAt: 25_000, reportedAt: node === 'node2' ? node2 : 26_000, before: last } };
      });
    const towards2 = measured(healthy(4), (_, { node }) => (node === 'node2' ? REFUSED : {}));

    it('once may be a restart: the network is seen to reject in the next measurement', () => {
      expect(found(twice(all, [], 26_000))).toEqual([]);
      expect(found(twice(all, [REFUSED.tcp], 26_000))).toEqual([
        'PodNetwork cluster Failed',
        'HostNetwork cluster Failed',
      ]);
    });

    it('twice by an agent that has not reported since the first time is of an agent that ended', () => {
      expect(found(twice(towards2, [REFUSED.tcp], 10_999))).toEqual([]);
    });
  });

  it('says which link it is in a cluster of two, where either node may be at fault', () => {
    const view = simulate(clusterOf(2), [{ at: 'node', node: 'node2', does: 'cut' }], seeded(1));
    expect(found(view)).toEqual(['Link node1 <-> node2 Failed']);
  });

  it('explains agents of host network that are silent by the pod network of the same node', () => {
    const cut = { at: 'node', node: 'node2', planes: ['Pod'], does: 'cut' } as const;
    expect(found(simulate(clusterOf(5, 1, { overlay: true }), [cut], seeded(1)))).toEqual(['PodNetwork node2 Failed']);
  });

  it('has no finding of a link that lost one datagram, in a large cluster', () => {
    const view = simulate(clusterOf(1000, 3), [], seeded(5));
    expect(localise(view)).toMatchObject({ findings: [], observedPairs: 20_000 });
  });

  it('finds the loss of 30 % that datagrams cross once, on the way in', () => {
    const view = measured(healthy(3), ({ node, plane }, peer) => {
      const crosses = plane === 'Pod' && (node === 'node2' || peer.node === 'node2');
      return crosses ? { udp: { sent: 20, received: 15 } } : {};
    });
    expect(found(view)).toEqual(['PodNetwork node2 Degraded']);
  });

  it('states what was measured, and that the other plane works', () => {
    const view = simulate(clusterOf(3), [{ at: 'node', node: 'node2', planes: ['Pod'], does: 'cut' }], seeded(1));
    expect(localise(view).findings[0]).toMatchObject({
      message: 'pod network of node2: 2 of 2 pairs fail (TCP timeout, UDP 0 of 20 echoed); its host network works',
      evidence: {
        affectedPairs: 2,
        observedPairs: 2,
        lossPercent: 100,
        pairs: [
          { from: 'node1', to: 'node2', plane: 'Pod', measured: 'TCP timeout, UDP 0 of 20 echoed' },
          { from: 'node3', to: 'node2', plane: 'Pod', measured: 'TCP timeout, UDP 0 of 20 echoed' },
        ],
      },
    });
  });

  it.each([
    [1400, 'larger than 1400 bytes, while small packets pass, all of them towards the node'],
    [9000, 'larger than 1449 bytes, while small packets pass, all of them from the node'],
  ])('states that the interface of a node has an MTU of %i bytes', (mtu, symptom) => {
    const fault = { at: 'interface', node: 'node2', mtu, planes: ['Pod'] } as const;
    expect(localise(simulate(clusterOf(3), [fault], seeded(1))).findings[0]?.message).toBe(
      `pod network of node2: 2 of 2 pairs lose packets ${symptom}; its interface has an MTU of ${mtu} bytes`,
    );
  });

  describe('while a fault begins', () => {
    const LARGE = { mtu: { interface: 1500, largest: 1400 } };
    /** The pod agent of node2 measured at 20 s, and other pod agents at 10 s; before that everything worked. */
    const atFirst = (change: Partial<PeerResult>, failing: boolean, hostAt = 10_000): ClusterView =>
      agents(healthy(3), ({ node, plane, peers, targets }) => {
        const isFirst = node === 'node2' && plane === 'Pod';
        const measuredAt = isFirst ? 20_000 : plane === 'Host' ? hostAt : 10_000;
        const nothing = { peers: [], targets: [], unprobed: [], unasked: [] };
        const before = { measuredAt: measuredAt - 15_000, reportedAt: measuredAt - 14_000, ...nothing };
        const times = { measuredAt, reportedAt: measuredAt + 1_000, before };
        if (!isFirst) return { times };
        const asked = failing ? targets.map((one) => ({ ...one, ok: false, error: 'Timeout' as const })) : targets;
        return { times, peers: peers.map((peer) => ({ ...peer, ...change })), targets: asked };
      });

    it.each([
      ['links that may be the node', DEAD, false],
      ['large packets of links that may be a fault of the node', LARGE, false],
      ['services that a fault of the network may explain', LARGE, true, 25_000],
      ['services that the others have not asked since', {}, true],
    ] as const)('has no finding of %s', (_, change, failing, hostAt?: number) => {
      expect(found(atFirst(change, failing, hostAt))).toEqual([]);
    });

    /** DNS does not answer node2 from 20 s on; what the others measured began at the given times. */
    const whileSilent = (took: number, ...[before, last]: readonly [number, number]): ClusterView =>
      agents(atFirst({}, true), ({ node, times }) =>
        node === 'node2'
          ? { times: { ...times!, reportedAt: 23_000 } }
          : {
              times: {
                ...{ measuredAt: last, reportedAt: last + took },
                before: { ...times!.before!, measuredAt: before, reportedAt: before + took },
              },
            },
      );

    it.each([
      ['that began after its end', [9_000, 24_000], ['DNS node2 Failed', 'APIServer node2 Failed']],
      ['that began before its end, and may have asked before it', [7_000, 22_000], []],
      ['in their first one, which may have ended after it', [19_500, 24_000], []],
    ] as const)(
      'has a finding of a service that answers others in a measurement %s, only if it is certain',
      (_, [before, last], wanted) => expect(found(whileSilent(1_000, before, last))).toEqual(wanted),
    );

    it('has none of a service that the others have asked for the first time since', () => {
      const view = agents(whileSilent(1_000, 9_000, 24_000), ({ node, times, targets }) =>
        node === 'node2'
          ? {}
          : { times: { ...times!, before: { ...times!.before!, unasked: targets.map(({ target }) => target) } } },
      );
      expect(found(view)).toEqual([]);
    });

    it('has one when the others have measured in the same period', () => {
      const view = agents(atFirst(DEAD, true), ({ node, times }) =>
        node === 'node2'
          ? {}
          : {
              times: {
                ...times!,
                measuredAt: 25_000,
                reportedAt: 26_000,
                before: { ...times!.before!, measuredAt: 10_000 },
              },
            },
      );
      expect(found(view)).toEqual(['PodNetwork node2 Failed']);
    });
  });

  describe('while peers rotate', () => {
    /** All agents measured at 10 s and at 25 s; node2 measured 2 s later. */
    const twice = (view: ClusterView, unprobed: (agent: AgentView) => readonly string[]): ClusterView =>
      agents(view, (agent) => {
        const measuredAt = agent.node === 'node2' ? 27_000 : 25_000;
        const nothing = { peers: [], targets: [], unprobed: unprobed(agent), unasked: [] };
        const before = { measuredAt: measuredAt - 15_000, reportedAt: measuredAt - 14_000, ...nothing };
        return { times: { measuredAt, reportedAt: measuredAt + 1_000, before } };
      });
    const isLink = (plane: string, from: string, to: string): boolean =>
      plane === 'Pod' && [from, to].sort().join() === 'node1,node2';

    it('does not take a pair that is new for a sign that its link has recovered', () => {
      const oneWay = measured(healthy(6), ({ plane, node: from }, { node }) =>
        plane === 'Pod' && from === 'node1' && node === 'node2' ? { tcp: TIMEOUT } : {},
      );
      const isNew = ({ node, plane }: AgentView) => (node === 'node2' && plane === 'Pod' ? ['node1'] : []);
      expect(found(twice(oneWay, isNew))).toEqual(['Link node1 -> node2 Failed']);
    });

    it('nor one for a sign that its node has', () => {
      const deaf = measured(healthy(6), ({ plane }, { node }) => (plane === 'Host' && node === 'node2' ? DEAD : {}));
      const isNew = ({ node, plane }: AgentView) => (node === 'node2' && plane === 'Host' ? ['node1'] : []);
      expect(found(twice(deaf, isNew))).toEqual(['HostNetwork node2 Failed']);
    });

    it('waits for the other direction of a link, if that is assigned', () => {
      const cut = measured(healthy(6), ({ plane, node: from }, { node }) => (isLink(plane, from, node) ? DEAD : {}));
      const half = (awaited: readonly string[]): ClusterView =>
        agents(
          twice(cut, () => []),
          ({ node, plane, peers, heard }) => ({
            heard:
              isLink(plane, node, 'node1') || isLink(plane, node, 'node2')
                ? heard.filter((from) => from === 'node3')
                : heard,
            ...(isLink(plane, node, 'node1') && { peers: peers.filter((peer) => peer.node !== 'node1'), awaited }),
          }),
        );
      expect(found(half(['node1']))).toEqual([]);
      expect(found(half([]))).toEqual(['Link node1 -> node2 Failed']);
      const whole = agents(half([]), ({ node, plane }) => {
        const { peers } = cut.agents.find((agent) => agent.node === node && agent.plane === plane)!;
        return { peers, ...(node === 'node2' && { awaited: ['node1'] }) };
      });
      expect(found(whole)).toEqual(['Link node1 <-> node2 Failed']);
    });
  });

  describe('while a fault ends that cut agents from the server', () => {
    /** host-node3 has not reported yet; the others have, for the first time since the fault, or twice. */
    const atTheEnd = (isSecond: boolean, unprobed: readonly string[] = []): ClusterView =>
      agents(healthy(3), ({ node, plane }) => {
        if (node === 'node3' && plane === 'Host') return { ...SILENT, dueAt: 20_000 };
        const before = { measuredAt: 25_000, reportedAt: 26_000, peers: [], targets: [], unprobed, unasked: [] };
        return { times: { measuredAt: 40_000, reportedAt: 41_000, ...(isSecond && { before }) } };
      });

    it('has no finding of an agent that is late: the network may have begun to work after its report was due', () => {
      expect(found(atTheEnd(false))).toEqual([]);
      expect(found(atTheEnd(true))).toEqual(['Agent host-node3 Failed']);
    });

    it('has one while peers rotate: a pair that is new is no network that works again', () => {
      expect(found(atTheEnd(true, ['node1', 'node2', 'node3']))).toEqual(['Agent host-node3 Failed']);
    });
  });

  it('has a finding of an empty or unknown cluster neither', () => {
    const view = { nodes: [], agents: [], thresholds: { lossPercent: 5 } };
    expect(localise(view)).toEqual({ ...NOTHING, observedPairs: 0, affectedPairs: 0, unobserved: [] });
    expect(found({ ...healthy(3), nodes: [] })).toEqual([]);
  });
});
