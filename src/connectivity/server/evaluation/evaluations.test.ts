import { beforeEach, describe, expect, it } from 'vitest';
import { found, Scene } from './testing/scene.ts';

const HALF_AN_HOUR_MS = 1_800_000;
/** Two reports at 15 s, but 60 s at least, and 5 s: see graceMs(). */
const GRACE_MS = 65_000;
let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

describe('a jump of the wall clock', () => {
  it('back gives a silent agent no new time to report', async () => {
    await scene.clock.advance(GRACE_MS);
    for (const node of ['n1', 'n2']) scene.report(node);
    expect(found(scene.evaluation())).toEqual(['Agent agent-n3 Failed']);
    scene.clock.jumpMs = -HALF_AN_HOUR_MS;
    await scene.clock.advance(1_000);
    expect(found(scene.evaluation())).toEqual(['Agent agent-n3 Failed']);
  });

  it('ahead takes no time from an agent that has not reported since the start of the server', async () => {
    await scene.clock.advance(10_000);
    for (const node of ['n1', 'n2']) scene.report(node);
    scene.clock.jumpMs = HALF_AN_HOUR_MS;
    expect(found(scene.evaluation()) ?? []).toEqual([]);
  });

  it('does not change for how long a node that was uncordoned joins', async () => {
    await scene.clock.advance(GRACE_MS);
    const [node] = scene.nodes.objects;
    scene.nodes.tell({ type: 'update', old: { ...node!, isCordoned: true }, object: node! });
    scene.clock.jumpMs = -HALF_AN_HOUR_MS;
    await scene.clock.advance(29_000);
    expect(scene.evaluation()?.excluded).toEqual([{ node: 'n1', reason: 'Joining' }]);
    await scene.clock.advance(1_000);
    expect(scene.evaluation()?.excluded).toEqual([]);
  });
});
