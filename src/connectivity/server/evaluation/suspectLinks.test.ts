import { beforeEach, describe, expect, it } from 'vitest';
import { ringOf } from '../../assign/ring.ts';
import { addressOf, found, INTERVAL_SECONDS, podOf, Scene } from './testing/scene.ts';

/** Each agent has both neighbours and two of the other 27 nodes, which take turns: all within 14 steps of two minutes. */
const NAMES = Array.from({ length: 30 }, (_, n) => `n${n + 1}`);
const PEERS = 4;
const STEP = 120 / INTERVAL_SECONDS;
const ALL_STEPS = 14 * STEP;
const RING = ringOf(NAMES.map((name) => ({ name })));
/** No neighbours. The other end of a link is assigned before or after the report of the same round, by its distance. */
const [A, NEARER, B] = [RING[3]!, RING[6]!, RING[15]!];
const LINK = [`Link ${[A, B].sort().join(' <-> ')} Failed`];

const isCut = (from: string, to: string): boolean => (from === A && to === B) || (from === B && to === A);
let scene: Scene;

/** Rounds until something is found. */
async function untilFound(cut = isCut): Promise<void> {
  for (let round = 0; round < 2 * ALL_STEPS; round += 1) {
    await scene.round(cut);
    if ((await scene.evaluation())?.findings.length !== 0) return;
  }
}

beforeEach(async () => {
  scene = new Scene(NAMES, PEERS);
  // Until all agents count as reporting, and have their peers.
  for (let round = 0; round < 6; round += 1) await scene.round();
  expect(found(await scene.evaluation())).toEqual([]);
});

describe('a link that the rotation probes for two minutes only', () => {
  it('is found until it works, by one name, and each node has its other peers all the time', async () => {
    await untilFound();
    for (let round = 0; round < ALL_STEPS; round += 1) {
      expect(found(await scene.evaluation())).toEqual(LINK);
      for (const name of NAMES) {
        const watchers = NAMES.filter((node) => scene.peersOf(node).includes(name)).length;
        expect(watchers).toBeGreaterThanOrEqual(PEERS);
        expect(scene.peersOf(name).length).toBeGreaterThanOrEqual(PEERS);
      }
      await scene.round(isCut);
    }
    await scene.round();
    await scene.round();
    expect(found(await scene.evaluation())).toEqual([]);
    for (let round = 0; round < STEP; round += 1) await scene.round();
    expect(NAMES.map((name) => scene.peersOf(name).length)).toEqual(NAMES.map(() => PEERS));
  });

  it.each([
    [A, B],
    [B, A],
    [A, NEARER],
    [NEARER, A],
  ])('has one direction from its first finding on, if the packets from %s to %s are lost', async (sender, receiver) => {
    const isCutOneWay = (from: string, to: string): boolean => from === sender && to === receiver;
    await untilFound(isCutOneWay);
    for (let round = 0; round < STEP; round += 1) {
      expect(found(await scene.evaluation())).toEqual([`Link ${sender} -> ${receiver} Failed`]);
      await scene.round(isCutOneWay);
    }
  });

  it('is found after a restart of the server, by the first reports of the agents', async () => {
    await untilFound();
    for (let round = 0; round < STEP; round += 1) await scene.round(isCut);
    scene.restart();
    expect(await scene.evaluation()).toBeUndefined();
    for (let round = 0; round < 2 * STEP; round += 1) {
      await scene.round(isCut);
      expect(found(await scene.evaluation())).toEqual(LINK);
    }
  });

  it('is not made up after a restart of the server: what one agent says of a node that was not assigned it does not count', async () => {
    const observed = (await scene.evaluation())?.counts.observedPairs;
    scene.restart();
    for (let round = 0; round < STEP; round += 1) {
      await scene.round(undefined, { [A]: B });
      const { findings, lasting, counts } = (await scene.evaluation())!;
      expect([findings, lasting, counts.observedPairs]).toEqual([[], undefined, observed]);
      expect(scene.peersOf(B)).not.toContain(A);
    }
  });

  it('is no longer probed once a node of it is deleted, or once no check selects both', async () => {
    await untilFound();
    for (let round = 0; round < STEP; round += 1) await scene.round(isCut);
    expect([scene.peersOf(A), scene.peersOf(B)]).toEqual([expect.arrayContaining([B]), expect.arrayContaining([A])]);
    const nodes = scene.nodes.objects;
    scene.nodes.objects = nodes.filter(({ name }) => name !== B);
    await scene.round(isCut);
    await scene.round(isCut);
    expect(scene.peersOf(A)).toHaveLength(PEERS);
    scene.nodes.objects = nodes;
    await untilFound();
    const spec = { interval: `${INTERVAL_SECONDS}s`, planes: ['Host' as const] };
    scene.checks.objects = [{ metadata: { name: 'all', generation: 2 }, spec }];
    await scene.round(isCut);
    expect([scene.peersOf(A), scene.peersOf(B)]).toEqual([[], []]);
  });

  it.each([
    ['has a silent kubelet: that may be the fault of the link', { isSilent: true as const }],
    ['is cordoned: its fault continues', { isCordoned: true }],
  ])('stays while a node of it %s', async (_, change) => {
    await untilFound();
    scene.nodes.objects = scene.nodes.objects.map(({ readySince, ...node }) =>
      node.name === B ? { ...node, ...change } : { ...node, readySince: readySince! },
    );
    for (let round = 0; round < 2 * STEP; round += 1) await scene.round(isCut);
    expect(scene.peersOf(A)).toContain(B);
    expect((await scene.evaluation())?.lasting?.map(({ subjects }) => subjects)).toEqual([
      [[A, B].sort().join(' <-> ')],
    ]);
  });
});

describe('a report keeps no link', () => {
  const agentOfA = { podname: podOf(A), nodename: A };

  it.each([
    ['from a pod that is not the agent of its node', { ...agentOfA, podname: 'other' }, addressOf(B)],
    ['about a pod that was replaced', agentOfA, '198.18.9.9'],
  ])('%s', (_, report, address) => {
    // To a server that has just started, nodes count as assigned if both agents name each other.
    scene.restart();
    for (const node of [A, B]) {
      scene.connectivity.seen({ podname: podOf(node), nodename: node }, scene.measurement(node));
    }
    const own = scene.measurement(A, [B]);
    const peers = own.peers.map((peer) => (peer.node === B ? { ...peer, address } : peer));
    scene.connectivity.seen(report, { ...own, peers });
    for (const node of [A, B]) expect(assigned(node)).toHaveLength(PEERS);
    scene.connectivity.seen(agentOfA, own);
    for (const node of [A, B]) expect(assigned(node)).toHaveLength(PEERS + 1);
  });
});

function assigned(node: string): unknown {
  return scene.connectivity.assignment({ nodename: node }, scene.measurement(node))?.peers;
}
