import type { PeerResult } from '../../protocol/measurement.ts';

/** How a node can reach one address of a peer. */
export type Quality = 'Failed' | 'Lossy' | 'Mtu' | 'Ok';

/**
 * The quality of one address of a peer.
 *
 * | TCP | UDP | largest packet | quality |
 * |---|---|---|---|
 * | Refused or Reset | any | | Ok, or Mtu as below |
 * | any | Refused | | Ok, or Mtu as below |
 * | any other | none echoed | | Failed |
 * | any other | `lossPercent` lost, and 2 datagrams or more | | Lossy |
 * | Timeout, Unreachable or other | fewer lost | | Failed |
 * | ok | fewer lost | below the interface's | Mtu |
 * | ok | fewer lost | the interface's, or unknown | Ok |
 *
 * Refused and Reset are answers of the peer: its network works, although the agent may not.
 * With loss, large packets that vanish say nothing about the MTU.
 * One lost datagram does not count as loss: it happens in every network.
 */
export function qualityOf(peer: PeerResult, lossPercent: number): Quality {
  if (udpFailed(peer)) return 'Failed';
  if (lostShare(peer) * 100 >= lossPercent && lostOf(peer) >= 2) return 'Lossy';
  if (tcpFailed(peer)) return 'Failed';
  return hasBlackHole(peer) ? 'Mtu' : 'Ok';
}

/** The peer's host answered that no agent listens, or that the agent went away. */
export function refused({ tcp, udp }: PeerResult): boolean {
  return tcp.error === 'Refused' || tcp.error === 'Reset' || udp.error === 'Refused';
}

/**
 * Datagrams that were sent and not echoed. None if the peer's host refused TCP or UDP: nobody was there to echo them, and
 * not every system reports the refusal of datagrams.
 */
export function lostOf(peer: PeerResult): number {
  return refused(peer) ? 0 : Math.max(0, peer.udp.sent - peer.udp.received);
}

function lostShare(peer: PeerResult): number {
  return peer.udp.sent > 0 ? lostOf(peer) / peer.udp.sent : 0;
}

/** Whether UDP shows a failed network. A refusal over TCP or UDP is an answer, so the agent is silent then, and not the network. */
function udpFailed(peer: PeerResult): boolean {
  const { udp } = peer;
  if (refused(peer)) return false;
  return udp.received === 0 && (udp.sent > 0 || udp.error !== undefined);
}

function tcpFailed(peer: PeerResult): boolean {
  return !peer.tcp.ok && !refused(peer);
}

function hasBlackHole({ mtu }: PeerResult): boolean {
  return mtu !== undefined && mtu.largest < mtu.interface;
}
