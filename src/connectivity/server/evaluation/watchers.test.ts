import { beforeEach, describe, expect, it } from 'vitest';
import { Turns } from '../../../runtime/process/turns.ts';
import { finished } from '../../localise/steps.ts';
import { nodeFigures } from './nodeFigures.ts';
import { found, Scene } from './testing/scene.ts';

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
    expect(await watches()).toEqual([undefined]);
    assign();
    expect(await watches()).toEqual([true]);
  });

  it('are also those that report of it before their first assignment: the process before this one assigned it', async () => {
    const pods = [...scene.pods.objects];
    scene.report('n1');
    scene.pods.objects = pods.filter(({ place }) => ['n1', 'n3'].includes(place));
    await scene.clock.advance(1_000);
    expect(assign()?.peers.map(({ node }) => node)).toEqual(['n3']);
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
    assign();
    scene.report('n1');
    expect(await watches()).toEqual([false]);
  });
});

describe('results of nodes that an agent was not assigned', () => {
  it('make no finding, no pair, no figure and no further probe', async () => {
    scene = new Scene(
      Array.from({ length: 12 }, (_, n) => `n${n + 1}`),
      2,
    );
    await scene.clock.advance(GRACE_MS);
    for (let n = 0; n < 3; n += 1) await scene.round();
    const own = scene.peersOf('n1');
    expect(own).toHaveLength(2);
    const before = (await scene.evaluation())?.counts;
    for (let n = 0; n < 2; n += 1) {
      await scene.clock.advance(1_000);
      scene.report(
        'n1',
        scene.names.filter((name) => !own.includes(name) && name !== 'n1'),
      );
    }
    await scene.clock.advance(1_000);
    const after = await scene.evaluation();
    expect([found(after), after?.counts]).toEqual([[], before]);
    const next = scene.connectivity.assignment({ nodename: 'n1' }, scene.measurement('n1'));
    expect(next?.peers.map(({ node }) => node)).toEqual(own);
    const views = await new Turns().run(scene.connectivity.views(await scene.connectivity.evaluated()));
    expect(finished(nodeFigures(views)).every(({ lossRatio }) => lossRatio === 0)).toBe(true);
  });
});
