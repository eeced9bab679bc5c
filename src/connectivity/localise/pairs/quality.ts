import type { PeerResult } from '../../protocol/measurement.ts';

/** How a pair of nodes can reach each other on one plane. */
export type Quality = 'Failed' | 'Lossy' | 'Mtu' | 'Ok';

/**
 * The quality of one address of a peer.
 *
 * | TCP | UDP | largest packet | quality |
 * |---|---|---|---|
 * | any | none echoed, not Refused | | Failed |
 * | Timeout, Unreachable or other | fewer lost than `lossPercent` | | Failed |
 * | any | `lossPercent` lost, and 2 datagrams or more | | Lossy |
 * | ok, Refused or Reset | nearly all echoed, or Refused | below the interface's | Mtu |
 * | ok, Refused or Reset | nearly all echoed, or Refused | the interface's, or unknown | Ok |
 *
 * Refused and Reset are answers of the peer: its network works, although the agent may not.
 * With loss, large packets that vanish say nothing about the MTU.
 * One lost datagram is no sign of loss: it happens in every network.
 */
export function qualityOf(peer: PeerResult, lossPercent: number): Quality {
  if (udpFailed(peer)) return 'Failed';
  if (lostShare(peer) * 100 >= lossPercent && lostOf(peer) >= 2) return 'Lossy';
  if (tcpFailed(peer)) return 'Failed';
  return hasBlackHole(peer) ? 'Mtu' : 'Ok';
}

/** The peer's host refused the connection or the datagrams: no agent listens there. */
export function refused(peer: PeerResult): boolean {
  return peer.tcp.error === 'Refused' || peer.udp.error === 'Refused';
}

/** Datagrams that were sent and not echoed. None if the peer's host refused them. */
export function lostOf({ udp }: PeerResult): number {
  return udp.error === 'Refused' ? 0 : Math.max(0, udp.sent - udp.received);
}

function lostShare(peer: PeerResult): number {
  return peer.udp.sent > 0 ? lostOf(peer) / peer.udp.sent : 0;
}

/** A refusal on either protocol is an answer, so silence on the other protocol is the agent's. */
function udpFailed(peer: PeerResult): boolean {
  const { udp } = peer;
  if (refused(peer)) return false;
  return udp.received === 0 && (udp.sent > 0 || udp.error !== undefined);
}

function tcpFailed({ tcp, udp }: PeerResult): boolean {
  return !tcp.ok && tcp.error !== 'Refused' && tcp.error !== 'Reset' && udp.error !== 'Refused';
}

function hasBlackHole({ mtu }: PeerResult): boolean {
  return mtu !== undefined && mtu.largest < mtu.interface;
}
