import { beforeEach, describe, expect, it } from 'vitest';
import type { Evaluation } from '../../protocol/evaluation.ts';
import type { PeerResult } from '../../protocol/measurement.ts';
import { INTERVAL_SECONDS, podOf, Scene } from './testing/scene.ts';

/** A result of no agent. */
const OTHER: PeerResult = {
  ...{ node: 'n9', address: '198.18.0.9' },
  tcp: { ok: true, ms: 1 },
  udp: { sent: 20, received: 20, ms: 1 },
};

describe('an agent that reports without a result of another node', () => {
  const PROBES = { dns: false, apiServer: false, mtu: false };
  let scene: Scene;

  beforeEach(async () => {
    scene = new Scene(['n1', 'n2', 'n3', 'n4']);
    const spec = { interval: `${INTERVAL_SECONDS}s`, planes: ['Pod' as const], probes: PROBES };
    scene.checks.objects = [{ metadata: { name: 'all', generation: 1 }, spec }];
    await scene.clock.advance(65_000);
  });

  /** The agent of a node reports on the peers that it names. */
  function report(node: string, peers: readonly PeerResult[]): void {
    const one = { podname: podOf(node), nodename: node, report_interval: INTERVAL_SECONDS };
    scene.reports.accept(one);
    scene.measurements.accept(one, { ...scene.measurement(node), peers });
  }

  async function evaluated(): Promise<Pick<Evaluation, 'findings' | 'unmeasured'>> {
    await scene.clock.advance(1_000);
    return (await scene.evaluation())!;
  }

  const peersOf = (node: string) => scene.measurement(node).peers;

  it.each<[string, readonly PeerResult[]]>([
    ['reports no peers', []],
    ['reports only nodes that were not assigned to it', [OTHER]],
    ['reports only addresses that no agent has', [{ ...OTHER, node: 'n1', address: '198.18.9.9' }]],
  ])('costs only the statement of its own node, if it %s', async (_, peers) => {
    for (let n = 0; n < 3; n += 1) await scene.round();
    report('n3', peers);
    await scene.clock.advance(INTERVAL_SECONDS * 1_000);
    for (const node of ['n1', 'n2', 'n4']) scene.report(node);
    report('n3', peers);
    const { findings, unmeasured } = await evaluated();
    expect(unmeasured).toBeUndefined();
    expect(findings).toMatchObject([
      {
        ...{ class: 'Agent', subjects: ['agent-n3'], severity: 'Degraded', evidence: { observedPairs: 3 } },
        message:
          'agent agent-n3 on n3 reports, but has no result of another node; others measure the pod network of n3',
      },
    ]);
  });

  it('has not measured since it was assigned peers, and is no finding yet', async () => {
    await scene.round();
    await scene.clock.advance(INTERVAL_SECONDS * 1_000);
    scene.report('n1');
    expect(await evaluated()).toMatchObject({ findings: [] });
  });

  it('measured towards pods that were replaced since, and is no finding', async () => {
    for (let n = 0; n < 3; n += 1) await scene.round();
    report(
      'n1',
      peersOf('n1').filter(({ node }) => node !== 'n4'),
    );
    scene.pods.objects = scene.pods.objects.map((pod) =>
      ['n2', 'n3'].includes(pod.node)
        ? { ...pod, addresses: [`198.18.1.${pod.node.slice(1)}`], startedAt: scene.clock.now() }
        : pod,
    );
    const { findings } = await evaluated();
    expect(findings).toEqual([]);
    await scene.clock.advance(2 * INTERVAL_SECONDS * 1_000);
    for (const node of scene.names) report(node, node === 'n1' ? [OTHER] : peersOf(node));
    for (const node of scene.names) report(node, node === 'n1' ? [OTHER] : peersOf(node));
    expect((await evaluated()).findings.map(({ subjects }) => subjects)).toEqual([['agent-n1']]);
  });
});
