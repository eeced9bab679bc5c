import { describe, expect, it } from 'vitest';
import type { TargetResult } from '../../protocol/measurement.ts';
import { localise } from '../localise.ts';
import { seeded } from '../testing/random.ts';
import { agents, healthy } from '../testing/views.ts';
import type { AgentView, ClusterView } from '../view.ts';

const INTERVAL_MS = 15_000;

/** The results of an agent in one measurement: its targets that fail. */
type Failing = (agent: AgentView) => readonly TargetResult['target'][];

/** The view after two measurements of each agent, which all make at the same time. */
function afterTwo(view: ClusterView, was: Failing, is: Failing): ClusterView {
  const at = (agent: AgentView, failing: Failing) =>
    agent.targets.map((one): TargetResult =>
      failing(agent).includes(one.target) ? { ...one, ok: false, error: 'Timeout' } : one,
    );
  return agents(view, (agent) => ({
    targets: at(agent, is),
    times: {
      measuredAt: INTERVAL_MS,
      reportedAt: INTERVAL_MS + 3_000,
      before: {
        ...{ measuredAt: 0, reportedAt: 3_000, peers: [], unprobed: [], unasked: [] },
        targets: at(agent, was).filter(({ ok }) => !ok),
      },
    },
  }));
}

function found(view: ClusterView): string[] {
  return localise(view).findings.map(({ class: one, subjects, severity }) => `${one} ${subjects.join()} ${severity}`);
}

describe('a service that does not answer some nodes', () => {
  const at =
    (...nodes: readonly string[]): Failing =>
    ({ node, plane }) =>
      plane === 'Pod' && nodes.includes(node) ? ['DNSUDP'] : [];

  it('all the time is a finding of these nodes', () => {
    expect(found(afterTwo(healthy(8), at('node2', 'node3'), at('node2', 'node3')))).toEqual([
      'DNS node2 Failed',
      'DNS node3 Failed',
    ]);
  });

  it('but others in each measurement is a finding of the service: some of its replicas fail', () => {
    const view = afterTwo(healthy(8), at('node2', 'node3'), at('node2', 'node4'));
    expect(found(view)).toEqual(['DNS cluster Degraded']);
    expect(localise(view).findings[0]?.message).toMatch(
      /^DNS fails at different nodes in turn, now at 2 of 8 \(pod network: DNSUDP [^ ]+ timeout\): some of its replicas may be down$/,
    );
  });

  it('and single timeouts elsewhere is a finding of the node, in a large cluster', () => {
    expect(found(afterTwo(healthy(60), at('node2', 'node3'), at('node2', 'node4')))).toEqual(['DNS node2 Failed']);
  });

  it('and at nearly all nodes is Failed, also if it answers a node now that it did not', () => {
    const all = healthy(8).nodes.map(({ name }) => name);
    expect(found(afterTwo(healthy(8), at(...all.slice(1)), at(...all.slice(0, -1))))).toEqual(['DNS cluster Failed']);
  });

  it('is a finding of the nodes while a fault begins or ends, or if it comes and goes at one node', () => {
    expect(found(afterTwo(healthy(8), at('node2'), at('node2', 'node3')))).toEqual(['DNS node2 Failed']);
    expect(found(afterTwo(healthy(8), at('node2', 'node3'), at('node2')))).toEqual(['DNS node2 Failed']);
    const turns =
      (one: TargetResult['target']): Failing =>
      ({ node }) =>
        node === 'node2' ? [one] : [];
    expect(found(afterTwo(healthy(8), turns('DNSUDP'), turns('DNSTCP')))).toEqual(['DNS node2 Failed']);
  });

  it('does not count what an agent that has just started asks, or asks for the first time', () => {
    const view = afterTwo(healthy(8), at('node2', 'node3'), at('node2', 'node4'));
    const started = agents(view, ({ node }) => (node === 'node3' ? { recent: true } : {}));
    expect(found(started)).toEqual(['DNS node2 Failed']);
    const first = agents(view, ({ node, times }) =>
      node === 'node4' ? { times: { ...times!, before: { ...times!.before!, unasked: ['DNSUDP'] } } } : {},
    );
    expect(found(first)).toEqual(['DNS node2 Failed']);
  });
});

it.each([
  [4, 0.5],
  [6, 0.34],
  [10, 0.1],
])('of %d nodes, a service of whose replicas a share of %d is down names rarely a node', (size, share) => {
  const random = seeded(3);
  const draw = (): Failing => {
    const failing = new Map(
      healthy(size).agents.map(({ pod }) => [pod, (['DNSUDP', 'DNSTCP'] as const).filter(() => random() < share)]),
    );
    return ({ pod }) => failing.get(pod) ?? [];
  };
  const rounds = 400;
  let [was, misled] = [draw(), 0];
  for (let n = 0; n < rounds; n += 1) {
    const is = draw();
    if (found(afterTwo(healthy(size), was, is)).some((one) => !one.startsWith('DNS cluster'))) misled += 1;
    was = is;
  }
  expect(misled / rounds).toBeLessThanOrEqual(0.05);
});
