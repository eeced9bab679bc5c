import { describe, expect, it } from 'vitest';
import { finished } from '../../localise/steps.ts';
import type { AgentView, ClusterView } from '../../localise/view.ts';
import type { PeerResult } from '../../protocol/measurement.ts';
import { nodeFigures, pairFigures } from './nodeFigures.ts';

const peer = (node: string, received: number, ms?: number): PeerResult => ({
  ...{ node, address: '198.18.0.1' },
  tcp: received > 0 ? { ok: true, ms: 1 } : { ok: false, error: 'Timeout' },
  udp: { sent: 20, received, ...(ms !== undefined && { ms }) },
});
const agent = (node: string, ...peers: PeerResult[]): AgentView => ({
  ...{ node, plane: 'Pod', pod: node, state: 'Reporting', peers, targets: [], heard: [] },
});
const view = (agents: readonly AgentView[], excluded: readonly string[] = []): ClusterView => ({
  nodes: ['a', 'b', 'c'].map((name) => ({ name, ...(excluded.includes(name) && { excluded: 'Cordoned' as const }) })),
  agents,
  thresholds: { lossPercent: 10 },
});
const AGENTS = [agent('a', peer('b', 20, 2), peer('b', 20, 4), peer('c', 0)), agent('b', peer('c', 10, 6))];

describe('nodeFigures', () => {
  it('sums up what was measured from and towards a node', () => {
    expect(finished(nodeFigures([view(AGENTS)]))).toEqual([
      { node: 'a', plane: 'Pod', lossRatio: 1 - 40 / 60, latencySeconds: 0.003 },
      { node: 'b', plane: 'Pod', lossRatio: 1 - 50 / 60, latencySeconds: 0.004 },
      { node: 'c', plane: 'Pod', lossRatio: 1 - 10 / 40, latencySeconds: 0.006 },
    ]);
  });

  it('counts each result once, although two checks select its nodes', () => {
    expect(finished(nodeFigures([view(AGENTS), view(AGENTS)]))).toEqual(finished(nodeFigures([view(AGENTS)])));
  });

  it('has no figures of a node that is left out, nor from its pairs', () => {
    expect(finished(nodeFigures([view(AGENTS, ['c'])])).map(({ node, lossRatio }) => [node, lossRatio])).toEqual([
      ['a', 0],
      ['b', 0],
    ]);
  });
});

it('pairFigures counts a pair with two addresses once, and those where nothing gets through', () => {
  expect(finished(pairFigures([view(AGENTS), view(AGENTS)]))).toEqual([{ plane: 'Pod', covered: 3, failed: 1 }]);
});
