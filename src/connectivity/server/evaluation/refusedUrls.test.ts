import { beforeEach, describe, expect, it } from 'vitest';
import type { RefusedUrl } from '../../protocol/measurement.ts';
import { INTERVAL_SECONDS, podOf, Scene } from './testing/scene.ts';

const [A, B] = ['http://a.example/', 'http://b.example/'] as const;
const OF_A: RefusedUrl = { url: A, address: '169.254.169.254', reason: 'LinkLocal' };
const OF_B: RefusedUrl = { url: B, address: '127.0.0.1', reason: 'Loopback' };
let scene: Scene;

beforeEach(() => {
  scene = new Scene(['n1', 'n2']);
  const spec = (urls: string[]) => ({ interval: '15s', planes: ['Pod' as const], probes: { urls } });
  scene.checks.objects = [
    { metadata: { name: 'all', generation: 1 }, spec: spec([B, A]) },
    { metadata: { name: 'other', generation: 1 }, spec: spec([]) },
  ];
});

/** The agent of a node reports what it refused. @param nodename the node that the report names */
function report(node: string, refused: readonly RefusedUrl[], nodename = node): void {
  const one = { podname: podOf(node), nodename, report_interval: INTERVAL_SECONDS };
  scene.reports.accept(one);
  scene.measurements.accept(one, { ...scene.measurement(node), refused });
}

describe('URLs that agents refuse', () => {
  it('are in the evaluation of the check that has them, in its order, and are no finding', async () => {
    report('n1', [OF_A, OF_B, { ...OF_A, url: 'http://made-up.example/' }]);
    report('n2', [{ ...OF_A, address: '169.254.169.253' }, OF_A]);
    const { all, other } = await scene.connectivity.evaluations();
    expect(all?.refused).toEqual([
      { ...OF_B, agents: 1 },
      { ...OF_A, agents: 2 },
    ]);
    expect([all?.findings, all?.counts.affectedPairs]).toEqual([[], 0]);
    expect(other).not.toHaveProperty('refused');
  });

  it('come from current reports of the agent of the node', async () => {
    report('n1', [OF_A], 'n2');
    report('n2', [OF_B]);
    expect((await scene.evaluation())?.refused).toEqual([{ ...OF_B, agents: 1 }]);
    await scene.clock.advance(INTERVAL_SECONDS * 10_000);
    report('n1', []);
    expect(await scene.evaluation()).not.toHaveProperty('refused');
  });
});
