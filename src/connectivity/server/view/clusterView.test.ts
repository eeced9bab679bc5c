import { beforeEach, expect, it } from 'vitest';
import { finished } from '../../localise/steps.ts';
import type { Measurement } from '../../protocol/measurement.ts';
import { found, podOf, Scene } from '../evaluation/testing/scene.ts';
import { ownTimes } from './clusterView.ts';

/** The check `all` asks for all probes, and `few` for none. The agents make the probes of both checks. */
let scene: Scene;

beforeEach(async () => {
  scene = new Scene();
  const spec = { interval: '15s', planes: ['Pod' as const], probes: { dns: false, apiServer: false, mtu: false } };
  scene.checks.objects = [...scene.checks.objects, { metadata: { name: 'few', generation: 1 }, spec }];
  await scene.clock.advance(65_000);
});

interface Working {
  readonly mtu: boolean;
  readonly services: boolean;
}

const ALL_WORKS = { mtu: true, services: true };

/** All agents report. Small packets between them pass in any case. */
function report({ mtu: isLarge, services: ok }: Working): void {
  for (const node of scene.names) {
    const measurement = scene.measurement(node);
    const mtu = { interface: 1_500, largest: isLarge ? 1_500 : 1_400 };
    const changed: Measurement = {
      ...measurement,
      peers: measurement.peers.map((peer) => ({ ...peer, mtu })),
      targets: (['DNSUDP', 'DNSTCP', 'APIServer'] as const).map((target) => ({
        target,
        address: '198.18.1.10:53',
        ok,
      })),
    };
    const sent = { podname: podOf(node), nodename: node, report_interval: 15 };
    scene.reports.accept(sent);
    scene.measurements.accept(sent, changed);
  }
}

async function reportTwice(working: Working): Promise<void> {
  for (let n = 0; n < 2; n += 1) {
    await scene.clock.advance(15_000);
    report(working);
  }
}

it.each([
  ['services', { ...ALL_WORKS, services: false }, ['DNS cluster Failed', 'APIServer cluster Failed']],
  ['packet sizes', { ...ALL_WORKS, mtu: false }, ['MTU cluster Degraded']],
])('a check has no finding of %s that only another check asks for', async (_, working, findings) => {
  await reportTwice(working);
  const { all, few } = await scene.connectivity.evaluations();
  expect(found(all)).toEqual(findings);
  expect([found(few), few?.counts.observedPairs, few?.counts.affectedPairs]).toEqual([[], 6, 0]);
});

it('what only another check asked for before is no recovery', () => {
  const at = { measuredAt: 1, reportedAt: 2 };
  const peers = [{ ...scene.measurement('n1').peers[0]!, mtu: { interface: 1_500, largest: 1_400 } }];
  const targets = (['APIServer', 'Kubelet'] as const).map((target) => ({
    target,
    address: '198.18.1.1:443',
    ok: false,
  }));
  const before = { ...at, peers, targets, unprobed: ['n3'], unasked: [] };
  const own = ownTimes({ ...at, before }, { dns: false, apiServer: false, mtu: false });
  expect(own.before?.peers.map(({ mtu }) => mtu)).toEqual([undefined]);
  expect(own.before?.targets.map(({ target }) => target)).toEqual(['Kubelet']);
  expect(own.before?.unprobed).toEqual(['n3']);
});

it('the figures of the network count each result once', async () => {
  await reportTwice(ALL_WORKS);
  const views = finished(scene.connectivity.views(await scene.connectivity.evaluated()));
  const results = views.flatMap(({ agents }) => agents.flatMap(({ peers }) => peers));
  expect([results.length, new Set(results).size]).toEqual([12, 6]);
});
