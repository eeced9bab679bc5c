import { beforeEach, describe, expect, it } from 'vitest';
import type { PeerResult } from '../../protocol/measurement.ts';
import { toAgentPod } from '../pods/agentPod.ts';
import { podOf, Scene } from './testing/scene.ts';

const ipv6Of = (node: string): string => `fd00::${node.slice(1)}`;
const FAILS = { tcp: { ok: false, error: 'Timeout' }, udp: { sent: 20, received: 0 } } as const;
let scene: Scene;

/** Each agent has an IPv4 and an IPv6 address. */
beforeEach(async () => {
  scene = new Scene();
  scene.pods.objects = scene.names.map((node) => {
    const pod = scene.pod(node);
    return toAgentPod({
      ...pod,
      status: { ...pod.status, podIPs: [...(pod.status?.podIPs ?? []), { ip: ipv6Of(node) }] },
    });
  });
  await scene.clock.advance(65_000);
});

/** Each agent reports. @param over addresses that n2 is not reached over, nor reaches others */
function report(over: 'IPv6' | 'both'): void {
  for (const node of scene.names) {
    const { peers, ...rest } = scene.measurement(node, over === 'both' ? ['n2'] : []);
    const isCut = (peer: PeerResult): boolean => node === 'n2' || peer.node === 'n2';
    const other = peers.map((peer) => ({ ...peer, address: ipv6Of(peer.node), ...(isCut(peer) && FAILS) }));
    const sent = { podname: podOf(node), nodename: node, report_interval: 15 };
    scene.reports.accept(sent);
    scene.measurements.accept(sent, { ...rest, peers: [...peers, ...other] });
  }
}

describe('agents with two addresses', () => {
  it('are probed over both', () => {
    const assignment = scene.connectivity.assignment({ nodename: 'n1' }, scene.measurement('n1'));
    expect(assignment?.peers.map(({ addresses }) => addresses)).toEqual([
      ['198.18.0.2', 'fd00::2'],
      ['198.18.0.3', 'fd00::3'],
    ]);
  });

  it('are probed only over the families that the agent which probes has, too', () => {
    scene.pods.objects = scene.pods.objects.map((pod) =>
      pod.node === 'n1'
        ? { ...pod, addresses: ['198.18.0.1'] }
        : pod.node === 'n3'
          ? { ...pod, addresses: ['fd00::3'] }
          : pod,
    );
    const peersOf = (node: string) =>
      scene.connectivity
        .assignment({ nodename: node }, scene.measurement(node))
        ?.peers.map(({ addresses }) => addresses);
    expect(peersOf('n1')).toEqual([['198.18.0.2']]);
    expect(peersOf('n2')).toEqual([['fd00::3'], ['198.18.0.1']]);
    expect(peersOf('n3')).toEqual([['fd00::2']]);
  });

  it.each([
    ['IPv6', 'Degraded', 'IPv6: TCP timeout, UDP 0 of 20 echoed; IPv4 works'],
    ['both', 'Failed', 'TCP timeout, UDP 0 of 20 echoed'],
  ] as const)(
    'of which %s fails are a finding with its severity and measurements',
    async (over, severity, measured) => {
      report(over);
      const { findings, counts } = (await scene.evaluation()) ?? {};
      expect(findings).toMatchObject([{ class: 'PodNetwork', subjects: ['n2'], severity }]);
      expect(findings?.[0]?.message).toContain(`4 of 4 pairs fail (${measured})`);
      expect(findings?.[0]?.evidence.pairs.map((pair) => pair.measured)).toEqual([measured, measured, measured]);
      expect(counts).toMatchObject({ observedPairs: 6, affectedPairs: 4 });
    },
  );

  it.each([
    [2, []],
    [3, [{ plane: 'Pod', of: 'IPv6' }]],
  ])(
    'are unmeasured over a family that no pair measures, if most agents have it: %d of 5',
    async (have, unmeasured) => {
      scene = new Scene(['n1', 'n2', 'n3', 'n4', 'n5']);
      scene.pods.objects = scene.pods.objects.map((pod) =>
        Number(pod.node.slice(1)) <= have ? { ...pod, addresses: [...pod.addresses, ipv6Of(pod.node)] } : pod,
      );
      await scene.clock.advance(65_000);
      for (const node of scene.names) scene.report(node);
      const { unmeasured: found = [] } = (await scene.evaluation()) ?? {};
      expect(found.filter(({ of }) => of === 'IPv6')).toEqual(unmeasured);
    },
  );
});
