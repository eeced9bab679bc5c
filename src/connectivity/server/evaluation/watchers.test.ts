import { beforeEach, describe, expect, it } from 'vitest';
import { Turns } from '../../../runtime/process/turns.ts';
import { Scene } from './testing/scene.ts';

/** Two reports at 15 s, but 60 s at least, and 5 s: see graceMs(). */
const GRACE_MS = 65_000;
let scene: Scene;

beforeEach(async () => {
  scene = new Scene(['n1', 'n2', 'n3', 'n4']);
  await scene.clock.advance(GRACE_MS);
});

describe('the watchers of a node', () => {
  /** Whether the agent of n1 was assigned n2, as each check sees it. */
  async function watches(): Promise<unknown[]> {
    const views = await new Turns().run(scene.connectivity.views(await scene.connectivity.evaluated()));
    return views.map(({ agents }) => agents.find(({ node }) => node === 'n1')?.watches?.('n2'));
  }
  const assign = () => scene.connectivity.assignment({ nodename: 'n1' }, scene.measurement('n1'));

  it('are the agents that were assigned it, and not known of those that were assigned nothing', async () => {
    scene.report('n1');
    expect(await watches()).toEqual([undefined]);
    assign();
    expect(await watches()).toEqual([true]);
  });

  it('are the agents of the last assignments: peers rotate', async () => {
    const pods = [...scene.pods.objects];
    for (const peer of ['n2', 'n3', 'n4']) {
      scene.pods.objects = pods.filter(({ place }) => ['n1', peer].includes(place));
      await scene.clock.advance(10_000);
      expect(assign()?.peers.map(({ node }) => node)).toEqual([peer]);
    }
    scene.report('n1');
    expect(await watches()).toEqual([true]);
  });

  it('are no agents that a check does not assign it', async () => {
    const matchLabels = { of: 'n1' };
    scene.nodes.objects = scene.names.map((name) => ({ ...scene.node(name), labels: { of: name } }));
    scene.checks.objects = [{ metadata: { name: 'all' }, spec: { nodeSelector: { matchLabels }, planes: ['Pod'] } }];
    await scene.clock.advance(1_000);
    scene.report('n1');
    assign();
    expect(await watches()).toEqual([false]);
  });
});
