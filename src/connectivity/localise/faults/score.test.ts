import { expect, it } from 'vitest';
import type { PeerResult } from '../../protocol/measurement.ts';
import { finished } from '../steps.ts';
import { pairsOf, AgentsByPlace } from '../pairs/pair.ts';
import { seeded } from '../testing/random.ts';
import { clusterOf } from '../testing/simCluster.ts';
import { simulate } from '../testing/simulate.ts';
import { scoreByFamily } from './score.ts';

const SCOPE = { kind: 'Node', plane: 'Pod', names: ['node2'] } as const;

/** The score of node2, which fails over all families, or over IPv6 only, in a cluster with IPv4 and IPv6. */
function scoreOf(isFailed: (peer: PeerResult) => boolean): number | undefined {
  const view = simulate(clusterOf(4, 1, { families: ['IPv4', 'IPv6'] }), [], seeded(1));
  const agents = view.agents.map((agent) => ({
    ...agent,
    peers: agent.peers.map((peer): PeerResult => {
      const isOf = agent.node === 'node2' || peer.node === 'node2';
      if (!isOf || !isFailed(peer)) return peer;
      return { ...peer, tcp: { ok: false, error: 'Timeout' }, udp: { sent: 20, received: 0 } };
    }),
  }));
  const pairs = finished(pairsOf({ ...view, agents }, new AgentsByPlace({ ...view, agents })));
  const own = pairs.filter(({ from, to, plane }) => plane === 'Pod' && (from === 'node2' || to === 'node2'));
  return scoreByFamily('IPv6', new Map(), () => false)(SCOPE, own);
}

it('is no fault of a family if no pair works over another family', () => {
  expect(scoreOf(({ address }) => address.includes(':'))).toBe(6);
  expect(scoreOf(() => true)).toBeUndefined();
});
