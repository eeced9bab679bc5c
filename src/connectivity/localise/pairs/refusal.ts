import type { PeerResult } from '../../protocol/measurement.ts';
import type { AgentView } from '../view.ts';
import { refused, type ReadResult } from './quality.ts';

/**
 * The meaning of a probe that was refused, without the echo of a datagram. A host on which no agent listens answers in the
 * same way as a firewall that rejects.
 *
 * | agent of the peer | measurement before | meaning |
 * |---|---|---|
 * | does not report, does not measure, or started within two intervals | | Answer: nobody listens there |
 * | reports and measures, so that it listens | refused also, and the agent has reported since | Rejection: the network refuses |
 * | the same | else | Unsure: it may be restarting |
 */
type Refusal = 'Answer' | 'Unsure' | 'Rejection';

export function refusalOf(agent: AgentView, target: AgentView | undefined, peer: PeerResult): Refusal {
  if (!isRefusedWhole(peer) || !listens(agent, target)) return 'Answer';
  const { times } = agent;
  if (times === undefined) return 'Rejection';
  const before = times.before?.peers.find(({ node, address }) => node === peer.node && address === peer.address);
  if (times.before === undefined || before === undefined || !isRefusedWhole(before)) return 'Unsure';
  const lastReport = target?.times?.reportedAt ?? Infinity;
  return lastReport >= times.before.reportedAt ? 'Rejection' : 'Unsure';
}

/** Reads a result of the measurement before: a refusal by an agent that listened then came from the network. */
export function readBefore(agent: AgentView, target: AgentView | undefined, peer: PeerResult): ReadResult {
  return isRefusedWhole(peer) && listens(agent, target) ? rejection(peer) : peer;
}

export function rejection(peer: PeerResult): ReadResult {
  return { ...peer, isRejected: true };
}

function isRefusedWhole(peer: PeerResult): boolean {
  return refused(peer) && peer.udp.received === 0;
}

/** Whether both agents run for two intervals or longer, and the other measures too: an agent of this program listens before it does. */
function listens({ recent }: AgentView, target: AgentView | undefined): boolean {
  if (target === undefined || recent === true || target.recent === true) return false;
  return target.state === 'Reporting' && target.peers.length > 0;
}
