import type { V1Pod, V1PodStatus } from '@kubernetes/client-node';
import { beforeEach, describe, expect, it } from 'vitest';
import { BodyBudget, identityOf } from '../../../runtime/cache/bodyBudget.ts';
import { toAgentPod } from '../pods/agentPod.ts';
import { isExpectedPod, nodeOfPod } from '../pods/agentPods.ts';
import { found, podOf, Scene } from './testing/scene.ts';

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
    expect(found(await scene.evaluation())).toEqual(['Agent agent-n3 Failed']);
    scene.clock.jumpMs = -HALF_AN_HOUR_MS;
    await scene.clock.advance(1_000);
    expect(found(await scene.evaluation())).toEqual(['Agent agent-n3 Failed']);
  });

  it('ahead takes no time from an agent that has not reported since the start of the server', async () => {
    await scene.clock.advance(10_000);
    for (const node of ['n1', 'n2']) scene.report(node);
    scene.clock.jumpMs = HALF_AN_HOUR_MS;
    expect(await scene.evaluation()).toBeUndefined();
  });
});

describe('the assignment', () => {
  const peersOf = (): readonly string[] | undefined =>
    scene.connectivity.assignment({ nodename: 'n1' }, scene.measurement('n1'))?.peers.map(({ node }) => node);

  it.each(['nodes', 'pods', 'checks'] as const)('is left out until the %s were read', async (cache) => {
    scene[cache].synced = false;
    const read = [...scene[cache].objects];
    scene[cache].objects = [];
    expect(peersOf()).toBeUndefined();
    expect(await scene.evaluation()).toBeUndefined();
    scene.connectivity.silentAgents();
    scene[cache].synced = true;
    scene[cache].objects = read;
    expect(peersOf()).toEqual(['n2', 'n3']);
  });

  it('goes on while a watch is refused: the agents of that time are still there', () => {
    scene.nodes.refusal = { detail: 'forbidden' };
    expect(peersOf()).toEqual(['n2', 'n3']);
  });
});

it('a check whose body the cache has dropped is not evaluated with default settings, nor assigned', async () => {
  const [all] = scene.checks.objects;
  scene.checks.objects = [new BodyBudget(0).keep(all!, identityOf)];
  for (const node of scene.names) scene.report(node);
  await scene.clock.advance(1_000);
  expect(await scene.evaluation()).toBeUndefined();
  expect(scene.connectivity.assignment({ nodename: 'n1' }, scene.measurement('n1'))?.peers ?? []).toEqual([]);
});

describe('the port of a peer', () => {
  const portsOf = async (): Promise<readonly unknown[]> => {
    await scene.clock.advance(1_000);
    const assignment = scene.connectivity.assignment({ nodename: 'n1' }, scene.measurement('n1'));
    return (assignment?.peers ?? []).map(({ node, port }) => [node, port]);
  };
  const state = (arg: string): void => {
    const pod = scene.pod('n2');
    const spec = { ...pod.spec!, containers: [{ name: 'agent', args: [arg] }] };
    scene.pods.objects = scene.pods.objects.map((known) =>
      known.node === 'n2' ? toAgentPod({ ...pod, spec }) : known,
    );
  };

  it('comes from its pod until it has reported, also after a restart of the server', async () => {
    state('--peer-port=9000');
    expect(await portsOf()).toEqual([
      ['n2', 9_000],
      ['n3', 8_082],
    ]);
    const report = { podname: podOf('n2'), nodename: 'n2', report_interval: 15 };
    scene.measurements.accept(report, { ...scene.measurement('n2'), port: 9_100 });
    expect(await portsOf()).toContainEqual(['n2', 9_100]);
    scene.restart();
    expect(await portsOf()).toContainEqual(['n2', 9_000]);
  });

  it('is not guessed: a peer whose pod does not tell is not probed until it has reported', async () => {
    state('--peer-port=$(PORT)');
    expect(await portsOf()).toEqual([['n3', 8_082]]);
    const report = { podname: podOf('n2'), nodename: 'n2', report_interval: 15 };
    scene.measurements.accept(report, { ...scene.measurement('n2'), port: 9_100 });
    scene.pods.objects = [...scene.pods.objects];
    expect(await portsOf()).toContainEqual(['n2', 9_100]);
  });
});

describe('checks of the same nodes that ask for more peers than agents probe', () => {
  it('are logged once', async () => {
    const names = Array.from({ length: 60 }, (_, n) => `n${n + 1}`);
    const crowd = new Scene(names, 50);
    const label = { ...crowd.nodes.objects[0]!, labels: { one: 'no' } };
    crowd.nodes.objects = [label, ...crowd.nodes.objects.slice(1)];
    const nodeSelector = { matchExpressions: [{ key: 'one', operator: 'DoesNotExist' as const }] };
    const others = { metadata: { name: 'others' }, spec: { peers: 40, nodeSelector, planes: ['Pod' as const] } };
    crowd.checks.objects = [...crowd.checks.objects, others];
    for (let n = 0; n < 3; n += 1) {
      crowd.connectivity.assignment({ nodename: 'n1' }, crowd.measurement('n1'));
      await crowd.clock.advance(15_000);
    }
    expect(crowd.log.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'warn', checks: ['all'], plane: 'Pod', asked: 50, given: 25 },
      { level: 'warn', checks: ['others'], plane: 'Pod', asked: 40, given: 25 },
    ]);
  });
});

describe('after a restart of the server', () => {
  beforeEach(async () => {
    await scene.clock.advance(GRACE_MS);
    for (const node of scene.names) scene.report(node, ['n2']);
    expect(found(await scene.evaluation())).toEqual(['PodNetwork n2 Failed']);
    scene.restart();
  });

  it('the check is left out until each running agent has reported: the stored reports have no measurement', async () => {
    expect(await scene.evaluation()).toBeUndefined();
    await scene.clock.advance(15_000);
    for (const node of ['n1', 'n3']) scene.report(node, ['n2']);
    expect(await scene.evaluation()).toBeUndefined();
    await scene.clock.advance(1_000);
    scene.report('n2', ['n2']);
    expect(found(await scene.evaluation())).toEqual(['PodNetwork n2 Failed']);
  });

  it('an agent that does not report keeps the check out for the grace, and is Silent then', async () => {
    await scene.clock.advance(GRACE_MS - 1_000);
    for (const node of ['n1', 'n3']) scene.report(node);
    expect(await scene.evaluation()).toBeUndefined();
    await scene.clock.advance(1_000);
    expect(found(await scene.evaluation())).toEqual(['Agent agent-n2 Failed']);
    expect((await scene.evaluation())?.counts).toMatchObject({ agents: 3, reportingAgents: 2 });
  });

  it('an agent of a node that is left out is not waited for', async () => {
    for (const node of ['n1', 'n3']) scene.report(node);
    expect(await scene.evaluation()).toBeUndefined();
    scene.nodes.objects = scene.nodes.objects.map((node) => ({ ...node, isCordoned: node.name === 'n2' }));
    await scene.clock.advance(1_000);
    expect(found(await scene.evaluation())).toEqual([]);
  });
});

describe('anonymousAgents', () => {
  it('counts reports without a token, whether or not they have a measurement', async () => {
    await scene.clock.advance(GRACE_MS);
    for (const [node, anonymous] of [
      ['n1', true],
      ['n2', false],
      ['n3', false],
    ] as const) {
      scene.reports.accept({ podname: podOf(node), nodename: node, report_interval: 15 }, anonymous);
    }
    expect((await scene.evaluation())?.counts).toMatchObject({ reportingAgents: 3, anonymousAgents: 1 });
  });
});

describe('a pod that only has the label of an agent, and started later than the agent of its node', () => {
  const ACCOUNTS = ['agents/netchecker-agent'];
  const foreign = (): V1Pod => {
    const pod = scene.pod('n2');
    const metadata = { ...pod.metadata, name: 'foreign', namespace: 'tenant', creationTimestamp: new Date() };
    return { ...pod, metadata, status: { phase: 'Running', podIPs: [{ ip: '198.18.9.9' }] } };
  };
  const peerOfN1 = async (): Promise<unknown> => {
    await scene.clock.advance(1_000);
    const assignment = scene.connectivity.assignment({ nodename: 'n1' }, scene.measurement('n1'));
    return assignment?.peers.find(({ node }) => node === 'n2')?.addresses;
  };

  it('is not the agent, if its ServiceAccount is not listed', async () => {
    scene.pods.objects = scene.pods.objects.concat(toAgentPod(foreign(), ACCOUNTS));
    expect(await peerOfN1()).toEqual(['198.18.0.2']);
    expect(isExpectedPod(scene.pods.asInformer(), 'foreign')).toBe(false);
    expect(nodeOfPod(scene.pods.asInformer(), 'foreign')).toBeUndefined();
  });

  it('is not the agent while the other pod reports with a token', async () => {
    scene.pods.objects = scene.pods.objects.concat(toAgentPod(foreign()));
    scene.report('n2');
    expect(await peerOfN1()).toEqual(['198.18.0.2']);
    scene.reports.accept({ podname: podOf('n2'), nodename: 'n2', report_interval: 15 }, true);
    expect(await peerOfN1()).toEqual(['198.18.9.9']);
  });
});

describe('a measurement of another node', () => {
  it('is not said of the node of the pod', async () => {
    await scene.clock.advance(GRACE_MS);
    for (const node of scene.names) scene.report(node);
    const forged = { podname: podOf('n1'), nodename: 'n9', report_interval: 15 };
    scene.reports.accept(forged, true);
    scene.measurements.accept(forged, scene.measurement('n1', ['n2', 'n3']));
    // Others measure n1: its network works, and its agent has not measured it.
    expect(found(await scene.evaluation())).toEqual(['Agent agent-n1 Degraded']);
    expect((await scene.evaluation())?.counts).toMatchObject({ observedPairs: 4, affectedPairs: 0 });
  });
});

describe('an agent that should run and does not', () => {
  const change = async (status: V1PodStatus): Promise<void> => {
    const pod = scene.pod('n2');
    scene.pods.objects = scene.pods.objects.map((known) =>
      known.node === 'n2' ? toAgentPod({ ...pod, status: { ...pod.status, ...status } }) : known,
    );
    await scene.clock.advance(1_000);
  };
  const waits = (reason: string): V1PodStatus => ({
    containerStatuses: [
      { name: 'agent', image: '', imageID: '', ready: false, restartCount: 3, state: { waiting: { reason } } },
    ],
  });

  beforeEach(async () => {
    await scene.clock.advance(GRACE_MS);
    for (const node of ['n1', 'n3']) scene.report(node, ['n2']);
  });

  it.each([
    ['ends again and again', waits('CrashLoopBackOff'), 'CrashLoopBackOff'],
    ['has no image', { ...waits('ImagePullBackOff'), phase: 'Pending' }, 'ImagePullBackOff'],
    ['was evicted', { phase: 'Failed', reason: 'Evicted', containerStatuses: [] }, 'Evicted'],
  ])('since it %s, is a finding with the reason, and missing', async (_, status, problem) => {
    await change(status);
    expect((await scene.evaluation())?.findings).toMatchObject([
      { class: 'Agent', severity: 'Degraded', message: `agent agent-n2 on n2 does not run: ${problem}` },
    ]);
    expect((await scene.evaluation())?.counts).toMatchObject({ agents: 3, reportingAgents: 2, affectedPairs: 0 });
  });

  it('is neither on a node that is left out, nor is one that is being deleted', async () => {
    scene.nodes.objects = scene.nodes.objects.map((node) => ({ ...node, isCordoned: node.name === 'n2' }));
    await change(waits('CrashLoopBackOff'));
    expect([found(await scene.evaluation()), (await scene.evaluation())?.counts.agents]).toEqual([[], 2]);
    scene.nodes.objects = scene.nodes.objects.map((node) => ({ ...node, isCordoned: false }));
    scene.pods.objects = scene.pods.objects.map((pod) => (pod.node === 'n2' ? { ...pod, phase: 'Gone' } : pod));
    await scene.clock.advance(1_000);
    expect([found(await scene.evaluation()), (await scene.evaluation())?.counts.agents]).toEqual([[], 2]);
  });

  it('is a finding of the node that its DaemonSet made it for, while it is not scheduled', async () => {
    const pod = scene.pod('n2');
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['n2'] }];
    const required = { nodeSelectorTerms: [{ matchFields }] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no free ports' }];
    const waiting = { ...pod, spec: { containers: [], affinity }, status: { phase: 'Pending', conditions } };
    scene.pods.objects = [...scene.pods.objects.filter(({ node }) => node !== 'n2'), toAgentPod(waiting)];
    await scene.clock.advance(1_000);
    expect((await scene.evaluation())?.findings.map(({ message }) => message)).toEqual([
      'agent agent-n2 on n2 does not run: Unschedulable: no free ports',
    ]);
  });
});
