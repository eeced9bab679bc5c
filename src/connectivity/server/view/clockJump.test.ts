import { describe, expect, it } from 'vitest';
import { settingsOf } from '../../assign/checkSettings.ts';
import { finished } from '../../localise/steps.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { toAgentPod } from '../pods/agentPod.ts';
import { clusterView, type PodReport } from './clusterView.ts';
import { toClusterNode } from './clusterNode.ts';
import { ExclusionHistory } from '../evaluation/evaluations.ts';
import { rosterOf } from './roster.ts';

const HOUR_MS = 3_600_000;
const SECOND_MS = 1_000;
const CHECK = settingsOf({ metadata: { name: 'all' }, spec: { interval: '15s', planes: ['Pod'] } });

/** A node that is as old as the clock shows, and the agent on it, which a kubelet started an hour ago. */
function scene(clock: FakeClock) {
  const ago = (ms: number): Date => new Date(clock.now() - ms);
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: ago(10 * HOUR_MS) };
  const node = { metadata: { name: 'n1', creationTimestamp: ago(10 * HOUR_MS) }, status: { conditions: [ready] } };
  const started = { name: 'agent', image: '', imageID: '', ready: true, restartCount: 0 };
  const pod = {
    metadata: { name: 'a', labels: { app: 'netchecker-agent' }, creationTimestamp: ago(9 * HOUR_MS) },
    spec: { nodeName: 'n1', containers: [] },
    status: {
      phase: 'Running',
      containerStatuses: [{ ...started, state: { running: { startedAt: ago(9 * HOUR_MS) } } }],
    },
  };
  return { node, pod };
}

const NOT_ASSIGNED = { watches: () => undefined, awaited: () => [], assignedSince: () => undefined };

describe.each([
  ['ahead', HOUR_MS],
  ['back', -HOUR_MS],
])('after the clock of the server jumped an hour %s', (_, jumpMs) => {
  const clock = new FakeClock();
  const { node, pod } = scene(clock);
  const history = new ExclusionHistory(clock);
  const roster = rosterOf([toClusterNode(node)], [toAgentPod(pod)], [], () => false);
  const startedAt = clock.monotonic();
  const view = (report?: PodReport) => {
    const age = { ageMs: 9 * HOUR_MS, runsMs: 9 * HOUR_MS };
    const times = { joinedMs: () => 10 * HOUR_MS, ageOf: () => age, upMs: clock.monotonic() - startedAt };
    const endedMs = (name: string): number | undefined => history.endedMs(name);
    return finished(clusterView({ ...times, ...NOT_ASSIGNED, roster, endedMs, reportOf: () => report }, CHECK));
  };

  it('an agent that had no time to report since the server started is starting, and silent only later', async () => {
    await clock.advance(10 * SECOND_MS);
    clock.jump(jumpMs);
    expect(view().agents).toMatchObject([{ pod: 'a', state: 'Starting' }]);
    await clock.advance(60 * SECOND_MS);
    expect(view().agents).toMatchObject([{ pod: 'a', state: 'Silent' }]);
  });

  it('an agent with a report reports', () => {
    const age = { ageMs: 20 * SECOND_MS, intervalMs: 15 * SECOND_MS };
    const report = { ...age, node: 'n1', isRestored: false, authenticated: true };
    expect(view(report).agents).toMatchObject([{ pod: 'a', state: 'Reporting' }]);
  });

  it('a node that was uncordoned is left out for two intervals', async () => {
    const cordoned = { ...node, spec: { unschedulable: true } };
    history.seen({ type: 'update', object: toClusterNode(node), old: toClusterNode(cordoned) });
    clock.jump(jumpMs);
    await clock.advance(29 * SECOND_MS);
    expect(view().nodes).toEqual([{ name: 'n1', excluded: 'Joining' }]);
    await clock.advance(1 * SECOND_MS);
    expect(view().nodes).toEqual([{ name: 'n1' }]);
  });
});
