import { beforeEach, describe, expect, it } from 'vitest';
import { found, Scene } from '../evaluation/testing/scene.ts';
import { toAgentPod } from '../pods/agentPod.ts';
import { toClusterNode } from './clusterNode.ts';

/** The kubelets of n2 have clocks that are two hours off. Each test begins after the server has been up for long. */
const HOURS_MS = 7_200_000;
const [AHEAD, BEHIND] = [HOURS_MS, -HOURS_MS];
/** Two intervals of 15 s and a minute: see exclusionOf(). */
const JOINING_MS = 90_000;
let scene: Scene;

beforeEach(async () => {
  scene = new Scene();
  await scene.clock.advance(70_000);
});

const dated = (offMs: number): Date => new Date(scene.clock.now() + offMs);

/** n2 becomes Ready, and its kubelet dates it. */
function ready(offMs: number, created = dated(-3 * HOURS_MS)): void {
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: dated(offMs) }];
  change(toClusterNode({ metadata: { name: 'n2', creationTimestamp: created }, status: { conditions } }));
}

function change(node: ReturnType<typeof toClusterNode>): void {
  scene.nodes.objects = scene.nodes.objects.map((known) => (known.name === node.name ? node : known));
}

function restartAgent(offMs: number): void {
  const pod = scene.pod('n2');
  const [container] = pod.status!.containerStatuses!;
  const restarted = { ...container!, state: { running: { startedAt: dated(offMs) } } };
  const started = toAgentPod({ ...pod, status: { ...pod.status, containerStatuses: [restarted] } });
  scene.pods.objects = scene.pods.objects.map((known) => (known.node === 'n2' ? started : known));
}

const excluded = async (): Promise<unknown> => (await scene.evaluation())?.excluded;

/** All agents report. @param failing nodes that nobody reaches */
async function report(failing: readonly string[] = []): Promise<void> {
  await scene.clock.advance(1_000);
  for (const node of scene.names) scene.report(node, failing);
}

describe.each([
  ['ahead', AHEAD],
  ['behind', BEHIND],
])('a kubelet whose clock is two hours %s', (_, offMs) => {
  it('does not change how long its node is left out after it became Ready', async () => {
    ready(offMs);
    await report();
    expect(await excluded()).toEqual([{ node: 'n2', reason: 'Joining' }]);
    await scene.clock.advance(JOINING_MS - 3_000);
    await report();
    expect(await excluded()).toEqual([{ node: 'n2', reason: 'Joining' }]);
    await report();
    expect(await excluded()).toEqual([]);
  });

  it('does not change how long a restart of its agent explains that others do not reach it', async () => {
    restartAgent(offMs);
    await report(['n2']);
    expect(found(await scene.evaluation())).toEqual([]);
    await scene.clock.advance(30_000);
    await report(['n2']);
    expect(found(await scene.evaluation())).toEqual(['PodNetwork n2 Failed']);
  });
});

it('a node whose clock was ahead before the server started is left out for as long as a node that just became Ready', async () => {
  ready(AHEAD);
  scene.restart();
  await scene.clock.advance(JOINING_MS - 1_000);
  await report();
  expect(await excluded()).toEqual([]);
});

it('an agent whose node dates its start in the future, before the server started, is silent after the grace', async () => {
  restartAgent(AHEAD);
  scene.restart();
  await scene.clock.advance(66_000);
  for (const node of ['n1', 'n3']) scene.report(node);
  expect(found(await scene.evaluation())).toEqual(['Agent agent-n2 Failed']);
});

it('a node that an API server with a clock behind dates is Joining when it is created', async () => {
  scene.nodes.objects = scene.nodes.objects.filter(({ name }) => name !== 'n2');
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: dated(BEHIND) }];
  const node = toClusterNode({ metadata: { name: 'n2', creationTimestamp: dated(BEHIND) }, status: { conditions } });
  scene.nodes.objects = [...scene.nodes.objects, node];
  await report();
  expect(await excluded()).toEqual([{ node: 'n2', reason: 'Joining' }]);
});
