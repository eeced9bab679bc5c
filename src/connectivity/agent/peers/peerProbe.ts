import { networkInterfaces } from 'node:os';
import type { Clock } from '../../../runtime/process/clock.ts';
import { readTextFile } from '../../../runtime/process/textFile.ts';
import type { MtuResult, PeerResult, TcpResult, UdpResult } from '../../protocol/measurement.ts';
import { deadline } from '../deadline.ts';
import { requestOnce } from '../http/httpRequest.ts';
import { probeError } from '../probeError.ts';
import { LEAST_BYTES } from '../udp/datagram.ts';
import { EchoSocket } from '../udp/echoSocket.ts';
import { mtuResult, nextSize, startSearch, triesFor, withTried } from '../udp/mtuSearch.ts';
import { rounded, udpResult } from '../udp/roundTrips.ts';
import type { ProbeSchedule } from './schedule.ts';

/** One address of a peer. */
export interface PeerAddress {
  readonly node: string;
  readonly address: string;
  readonly port: number;
}

export interface PeerProbeOptions {
  /** Node of this agent. */
  readonly nodeName: string;
  /** Whether to find the largest packet that passes. */
  readonly mtu: boolean;
  readonly schedule: ProbeSchedule;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Probes one address of a peer by TCP and UDP at the same time. Never rejects. */
export async function probePeer(peer: PeerAddress, o: PeerProbeOptions): Promise<PeerResult> {
  const connecting = probeTcp(peer, o);
  const [tcp, udp] = await Promise.all([connecting, probeUdp(peer, o, connecting)]);
  return { node: peer.node, address: peer.address, tcp, ...udp };
}

async function probeTcp({ address, port }: PeerAddress, o: PeerProbeOptions): Promise<TcpResult> {
  const host = address.includes(':') ? `[${address}]` : address;
  const signal = deadline(o.clock, o.schedule.tcpMs, o.signal);
  const { start, end, status, error } = await requestOnce(new URL(`http://${host}:${port}/ping`), o.clock, signal);
  if (error === undefined && status === 200 && end !== undefined) return { ok: true, ms: rounded(end - start) };
  return { ok: false, error: error === undefined ? 'Other' : probeError(error) };
}

/**
 * Probes by UDP. Waits for echoes as long as TCP waits for its answer: if that comes at once, echoes would also. If TCP fails,
 * the largest packet does not matter, and there may be no time left to search it.
 */
async function probeUdp(
  peer: PeerAddress,
  o: PeerProbeOptions,
  tcp: Promise<TcpResult>,
): Promise<{ udp: UdpResult; mtu?: MtuResult }> {
  const { datagrams, gapMs, echoWaitMs } = o.schedule;
  let socket: EchoSocket;
  try {
    socket = await EchoSocket.open(peer, o.nodeName, o.clock, o.signal);
  } catch (error) {
    return { udp: { sent: 0, received: 0, error: probeError(error) } };
  }
  try {
    const small = { bytes: LEAST_BYTES, count: datagrams, gapMs, waitMs: echoWaitMs, patience: tcp, enough: datagrams };
    const run = await socket.run(small);
    const mtu = o.mtu && (await tcp).ok ? await searchMtu(socket, udpResult(run), o) : undefined;
    return { udp: udpResult(run), ...(mtu !== undefined && { mtu }) };
  } finally {
    socket.close();
  }
}

const UDP_HEADER_BYTES = 8;
const IPV4_HEADER_BYTES = 20;
const IPV6_HEADER_BYTES = 40;

/** Returns the bytes of a datagram's headers: UDP (RFC 768), and IP of the address's family (RFC 791, RFC 8200). */
export function headerBytes(address: string): number {
  return UDP_HEADER_BYTES + (address.includes(':') ? IPV6_HEADER_BYTES : IPV4_HEADER_BYTES);
}

/**
 * Searches for the largest packet that passes in both directions. Linux sets DF on datagrams up to the MTU of the
 * interface. A path with a smaller MTU is healthy if its router sends the ICMP error: the kernel then splits later datagrams,
 * and datagrams of the interface's MTU are echoed. If the router sends none, or a firewall drops it, large datagrams vanish.
 *
 * @returns undefined if the size cannot be measured: too much loss, or round trips that take as long as a step
 */
async function searchMtu(socket: EchoSocket, small: UdpResult, o: PeerProbeOptions): Promise<MtuResult | undefined> {
  const { localAddress } = socket;
  const tries = triesFor(1 - small.received / small.sent);
  const mtu = await interfaceMtu(localAddress);
  const gapMs = Math.min(o.schedule.gapMs, o.schedule.mtuStepMs / 2 / Math.max(tries, 1));
  const waitMs = o.schedule.mtuStepMs - gapMs * (tries - 1);
  if (tries === 0 || mtu === undefined || (small.ms ?? Infinity) * 2 > waitMs) return undefined;
  const headers = headerBytes(localAddress);
  let search = startSearch(mtu, LEAST_BYTES + headers);
  for (let size = nextSize(search); size !== undefined; size = nextSize(search)) {
    const { times } = await socket.run({ bytes: size - headers, count: tries, gapMs, waitMs, enough: 1 });
    if (o.signal.aborted) return undefined;
    search = withTried(search, size, times.length > 0);
  }
  return mtuResult(search);
}

/** The MTU of the interface that has a local address; undefined if it cannot be read. */
async function interfaceMtu(localAddress: string): Promise<number | undefined> {
  const [name] =
    Object.entries(networkInterfaces()).find(([, addresses = []]) =>
      addresses.some(({ address }) => address === localAddress),
    ) ?? [];
  // Addresses such as 127.0.0.2 belong to loopback as well, but are not listed.
  const found = name ?? (localAddress.startsWith('127.') ? 'lo' : undefined);
  return found === undefined ? undefined : mtuOf(found);
}

async function mtuOf(name: string): Promise<number | undefined> {
  try {
    const mtu = Number(await readTextFile(`/sys/class/net/${name}/mtu`));
    return Number.isInteger(mtu) && mtu > 0 ? mtu : undefined;
  } catch {
    return undefined;
  }
}
