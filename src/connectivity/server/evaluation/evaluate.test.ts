import { beforeEach, describe, expect, it } from 'vitest';
import { localise } from '../../localise/localise.ts';
import { finished } from '../../localise/steps.ts';
import { seeded } from '../../localise/testing/random.ts';
import { clusterOf } from '../../localise/testing/simCluster.ts';
import { simulate } from '../../localise/testing/simulate.ts';
import type { AgentView, ClusterView, NodeView } from '../../localise/view.ts';
import { MOST_UNOBSERVED } from '../../protocol/evaluation.ts';
import type { RefusedUrl } from '../../protocol/measurement.ts';
import { toClusterNode } from '../view/clusterNode.ts';
import { countsOf, wholeLocalisation } from './evaluate.ts';
import { found, INTERVAL_SECONDS, podOf, Scene } from './testing/scene.ts';

const PAIRS = { observedPairs: 12, affectedPairs: 1 };

function agent(node: string, state: AgentView['state'], pod = `pod-${node}`): AgentView {
  return { node, plane: 'Pod', pod, state, peers: [], targets: [], heard: [] };
}

it('counts no missing agent of a node that is left out, and those that report', () => {
  const nodes: NodeView[] = [
    { name: 'n1' },
    { name: 'n2', excluded: 'NotReady' },
    { name: 'n3', excluded: 'Unreachable' },
    { name: 'n4', excluded: 'Joining' },
  ];
  const agents = [agent('n1', 'Reporting'), agent('n2', 'Silent'), agent('n3', 'Silent'), agent('n4', 'Reporting')];
  expect(countsOf({ nodes, agents }, PAIRS, () => true)).toEqual({
    ...{ nodes: 4, excludedNodes: 3, agents: 2, reportingAgents: 2, anonymousAgents: 0 },
    ...PAIRS,
  });
});

it('expects agents that report, are silent or broken, and none that starts or is gone', () => {
  const agents = (['Reporting', 'Silent', 'Broken', 'Starting', 'Absent', 'Reporting'] as const).map((state, n) =>
    agent('n1', state, `pod${n}`),
  );
  const counts = countsOf({ nodes: [{ name: 'n1' }], agents }, PAIRS, ({ pod }) => pod === 'pod0');
  expect(counts).toMatchObject({ agents: 4, reportingAgents: 2, anonymousAgents: 1 });
});

describe('the findings that last', () => {
  const CLUSTER = clusterOf(5);

  /** node3 is cut off, and left out. */
  function viewWith(excluded: NodeView['excluded']): ClusterView {
    const nodes = CLUSTER.nodes.map((node) =>
      node.name === 'node3' && excluded !== undefined ? { ...node, excluded } : node,
    );
    return { ...simulate(CLUSTER, [{ at: 'node', node: 'node3', does: 'cut' }], seeded(7)), nodes };
  }

  const lasting = (view: ClusterView): string[] | undefined =>
    finished(wholeLocalisation(view))?.findings.map(({ class: one, subjects }) => `${one} ${subjects.join()}`);

  it.each(['Unreachable', 'NotReady', 'Cordoned', 'Joining', 'Leaving'] as const)(
    'has the finding of a node that is cut off, after it is left out as %s',
    (excluded) => {
      const view = viewWith(excluded);
      expect(localise(view).findings).toEqual([]);
      expect(lasting(view)).toEqual(['Node node3']);
    },
  );

  it('is the same as the findings without a node that is left out', () => {
    expect(lasting(viewWith(undefined))).toBeUndefined();
  });

  it('is the same as the findings if nodes that are left out work, without the work of a second localisation', () => {
    const nodes = CLUSTER.nodes.map((node) => ({ ...node, excluded: 'Cordoned' as const }));
    const perfect = simulate(CLUSTER, [], () => 0.5);
    expect(lasting({ ...perfect, nodes: nodes.slice(0, 2).concat(CLUSTER.nodes.slice(2) as typeof nodes) })).toBe(
      undefined,
    );
  });
});

describe('nodes that are all left out', () => {
  it('have no pair and no finding, but what their agents report shows whether a finding stays', async () => {
    const scene = new Scene();
    await scene.clock.advance(65_000);
    scene.checks.objects = scene.checks.objects.map((check) => ({ ...check, status: { summary: 'Node n1' } }));
    scene.nodes.objects = scene.nodes.objects.map(({ name }) => toClusterNode({ metadata: { name } }));
    for (const node of scene.names) scene.report(node, [...scene.names]);
    const evaluation = await scene.evaluation();
    expect(found(evaluation)).toEqual([]);
    expect(evaluation).toMatchObject({
      counts: { excludedNodes: 3, reportingAgents: 3, observedPairs: 0 },
      lasting: [{ class: 'PodNetwork', subjects: ['cluster'] }],
      lastingPairs: 6,
    });
  });

  it('are localised only if there was a finding that may last: in the status, or in the evaluation before', async () => {
    const scene = new Scene();
    const leaveOut = () =>
      (scene.nodes.objects = scene.nodes.objects.map(({ name }) => toClusterNode({ metadata: { name } })));
    const ready = scene.nodes.objects;
    const next = async () => {
      await scene.clock.advance(1_000);
      for (const node of scene.names) scene.report(node, [...scene.names]);
      return await scene.evaluation();
    };
    await scene.clock.advance(65_000);
    leaveOut();
    expect(await next()).not.toHaveProperty('lasting');
    scene.nodes.objects = ready;
    await scene.clock.advance(60_000 + 2 * INTERVAL_SECONDS * 1_000);
    await next();
    expect(found(await next())).toEqual(['PodNetwork cluster Failed']);
    leaveOut();
    for (let n = 0; n < 3; n++) expect(await next()).toHaveProperty('lasting');
  });

  it('are unobserved if their agents report no results', async () => {
    const scene = new Scene();
    await scene.clock.advance(65_000);
    expect(await scene.evaluation()).toMatchObject({
      counts: { observedPairs: 0, unobservedNetworks: 3 },
      unmeasured: [{ plane: 'Pod' }, { of: 'DNSUDP' }, { of: 'DNSTCP' }, { of: 'APIServer' }],
    });
  });
});

describe('parts of a check without any result', () => {
  it('are a network that has no agents, and an address family that no agent probes', async () => {
    const scene = new Scene();
    const spec = { interval: `${INTERVAL_SECONDS}s`, probes: { dns: false, apiServer: false, mtu: false } };
    scene.checks.objects = [{ metadata: { name: 'all', generation: 1 }, spec }];
    scene.pods.objects = scene.pods.objects.map((pod) => ({
      ...pod,
      addresses: [...pod.addresses, `fd00::${pod.node.slice(1)}`],
    }));
    await scene.clock.advance(65_000);
    for (const node of scene.names) scene.report(node);
    expect((await scene.evaluation())?.unmeasured).toEqual([{ plane: 'Pod', of: 'IPv6' }, { plane: 'Host' }]);
  });

  it('are the network of a node whose addresses have another family than all others', async () => {
    const scene = new Scene(['n1', 'n2', 'n3', 'n4']);
    const addresses = (node: string, own: readonly string[]) => (node === 'n3' ? ['fd00::3'] : own);
    scene.pods.objects = scene.pods.objects.map((pod) => ({ ...pod, addresses: addresses(pod.node, pod.addresses) }));
    await scene.clock.advance(65_000);
    for (let n = 0; n < 3; n += 1) await scene.round();
    await scene.clock.advance(1_000);
    const { unmeasured, findings } = (await scene.evaluation())!;
    expect(findings).toEqual([]);
    expect(unmeasured).toContainEqual({ plane: 'Pod', of: 'Nodes', node: 'n3', count: 1 });
  });

  it('are not listed by node, while the places of a network that others measure are, and how many there are', async () => {
    const scene = new Scene(Array.from({ length: MOST_UNOBSERVED + 12 }, (_, n) => `n${n}`));
    scene.checks.objects = [{ metadata: { name: 'all', generation: 1 }, spec: { interval: `${INTERVAL_SECONDS}s` } }];
    await scene.clock.advance(65_000);
    for (const node of ['n1', 'n2']) {
      const { peers, ...rest } = scene.measurement(node);
      const report = { podname: podOf(node), nodename: node, report_interval: INTERVAL_SECONDS };
      scene.reports.accept(report);
      const own = peers.filter((peer) => ['n1', 'n2'].includes(peer.node));
      scene.measurements.accept(report, { ...rest, peers: own });
    }
    const { unobserved = [], unmeasured, counts } = (await scene.evaluation())!;
    expect(unmeasured).toContainEqual({ plane: 'Host' });
    expect([...new Set(unobserved.map(({ plane }) => plane))]).toEqual(['Pod']);
    expect([unobserved.length, counts.unobservedNetworks]).toEqual([MOST_UNOBSERVED, 2 * (MOST_UNOBSERVED + 12) - 2]);
  });
});

describe('the URLs of a check', () => {
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
});
