import { beforeEach, expect, it } from 'vitest';
import type { ConnectivityCheckSpec } from '../../../api/connectivitycheck/schema.ts';
import type { PeerResult } from '../../protocol/measurement.ts';
import { found, INTERVAL_SECONDS, podOf, Scene } from './testing/scene.ts';

/** Several checks of the same nodes: each is evaluated by its own spec. */
const SENT = 20;
let scene: Scene;

beforeEach(() => {
  scene = new Scene(['n1', 'n2', 'n3', 'n4']);
  scene.nodes.objects = scene.nodes.objects.map((node) => ({ ...node, labels: { name: node.name } }));
});

function withChecks(specs: Readonly<Record<string, ConnectivityCheckSpec>>): void {
  scene.checks.objects = Object.entries(specs).map(([name, spec]) => ({
    metadata: { name, generation: 1 },
    spec: { interval: `${INTERVAL_SECONDS}s`, planes: ['Pod'], ...spec },
  }));
}

/** All agents report twice, an interval apart. Of the datagrams from and to a node some are lost. */
async function reportTwice(lossy: string, lost: number): Promise<void> {
  await scene.clock.advance(65_000);
  const result = (peer: PeerResult): PeerResult => ({ ...peer, udp: { sent: SENT, received: SENT - lost, ms: 1 } });
  for (let n = 0; n < 2; n += 1) {
    await scene.clock.advance(INTERVAL_SECONDS * 1_000);
    for (const node of scene.names) {
      const { peers, ...rest } = scene.measurement(node);
      const changed = peers.map((peer) => (node === lossy || peer.node === lossy ? result(peer) : peer));
      const report = { podname: podOf(node), nodename: node, report_interval: INTERVAL_SECONDS };
      scene.reports.accept(report);
      scene.measurements.accept(report, { ...rest, peers: changed });
    }
  }
}

it('thresholds.lossPercent is the loss from which on a pair is Degraded, 10 by default', async () => {
  withChecks({ standard: {}, lenient: { thresholds: { lossPercent: 50 } } });
  await reportTwice('n2', 6);
  const { standard, lenient } = await scene.connectivity.evaluations();
  expect([found(standard), standard?.counts.affectedPairs]).toEqual([['PodNetwork n2 Degraded'], 6]);
  expect([found(lenient), lenient?.counts.observedPairs, lenient?.counts.affectedPairs]).toEqual([[], 12, 0]);
});

it('nodeSelector selects the nodes whose agents and pairs count', async () => {
  const values = ['n1', 'n3', 'n4'];
  withChecks({
    others: { nodeSelector: { matchExpressions: [{ key: 'name', operator: 'In', values }] } },
    nobody: { nodeSelector: { matchLabels: { name: 'n9' } } },
  });
  await reportTwice('n2', SENT);
  const { others, nobody } = await scene.connectivity.evaluations();
  expect([found(others), others?.counts]).toMatchObject([[], { nodes: 3, agents: 3, observedPairs: 6 }]);
  expect([found(nobody), nobody?.counts]).toMatchObject([[], { nodes: 0, agents: 0, observedPairs: 0 }]);
});

it('planes are those whose agents and pairs count', async () => {
  withChecks({ pod: {}, host: { planes: ['Host'] } });
  await reportTwice('n2', 6);
  const { pod, host } = await scene.connectivity.evaluations();
  expect(found(pod)).toEqual(['PodNetwork n2 Degraded']);
  expect([found(host), host?.counts]).toMatchObject([[], { nodes: 4, agents: 0, observedPairs: 0 }]);
});
